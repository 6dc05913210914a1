package engine

import (
	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/transcribe"
)

// MediaMain reads a foreign file and ends the process, when this process is the child
// of a bot that was started for it. Else it returns at once. It is called first in main.
func MediaMain() {
	confined.Main(map[string]confined.Kind{
		transcribe.Kind: transcribe.Child,
	})
}

package readers

import (
	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document"
	"klawbot/engine/internal/picture"
	"klawbot/engine/internal/transcribe"
	"klawbot/engine/internal/voice"
)

// Main reads a foreign file and ends the process, when this process is the child of a bot
// that was started for it. Else it returns at once.
func Main() {
	kinds := document.Kinds()
	kinds[picture.Kind] = picture.Child
	kinds[transcribe.Kind], kinds[voice.Kind] = transcribe.Child, voice.Child
	confined.Main(kinds)
}

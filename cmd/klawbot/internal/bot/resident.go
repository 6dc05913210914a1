package bot

import (
	"os"
	"runtime/debug"
)

// growth is how much a running bot's heap grows until it is collected again, in
// percent of what lives in it. Little lives in it, so that collecting it more often
// than Go's 100 takes no time that could be measured, and saves 2 MB.
const growth = 60

// staySmall keeps the heap of a running bot small, unless GOGC says otherwise.
func staySmall() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	debug.FreeOSMemory()
}

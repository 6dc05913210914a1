//go:build !linux

package bot

import "runtime/debug"

// letGo gives the free memory of the heap back.
func letGo() { debug.FreeOSMemory() }

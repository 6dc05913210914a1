//go:build !linux

package main

import "runtime/debug"

// letGo gives the free memory of the heap back.
func letGo() { debug.FreeOSMemory() }

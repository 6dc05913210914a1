//go:build !crash

package lifecycle

// CrashPoint names a moment at which the kill tests end the process. In a
// normal build it is nothing.
func CrashPoint(string) {}

//go:build !linux

package browser

// killIn finds nobody: only Linux shows what processes were started with.
func killIn(string) bool { return false }

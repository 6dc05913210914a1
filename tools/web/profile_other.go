//go:build !linux

package web

// killIn finds nobody: only Linux shows what processes were started with.
func killIn(string) bool { return false }

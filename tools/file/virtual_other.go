//go:build !linux

package file

import "os"

// virtual is false: only Linux has /proc and /sys among files.
func virtual(*os.File) bool { return false }

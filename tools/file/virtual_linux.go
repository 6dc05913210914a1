package file

import (
	"os"
	"syscall"
)

// The magic numbers of /proc and /sys, which show our environment too.
const (
	procMagic  = 0x9fa0
	sysfsMagic = 0x62656572
)

// virtual reports whether a file is on such a file system.
func virtual(f *os.File) bool {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil {
		return true
	}
	return s.Type == procMagic || s.Type == sysfsMagic
}

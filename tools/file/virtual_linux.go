package file

import (
	"os"
	"syscall"
)

// The magic numbers of file systems that show the kernel and its processes,
// the bot's environment among them.
const (
	procMagic  = 0x9fa0
	sysfsMagic = 0x62656572
)

// virtual reports whether the file lies on such a file system.
func virtual(f *os.File) bool {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil {
		return true
	}
	return s.Type == procMagic || s.Type == sysfsMagic
}

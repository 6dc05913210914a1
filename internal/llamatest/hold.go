//go:build linux

package llamatest

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold makes everyone who opens the file wait until release is called, or for
// as long as the system allows (fs.lease-break-time, 45 s).
func hold(name string) (release func(), err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		_ = f.Close() // the lease is what failed
		return nil, os.NewSyscallError("lease "+name, err)
	}
	return func() { _ = f.Close() }, nil // a second close does nothing
}

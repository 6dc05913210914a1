//go:build unix && !linux

package sandbox

import (
	"errors"
	"syscall"
)

// start starts the stage in a process group of its own.
func (s *stage) start() error {
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return s.Start()
}

// stop kills the process group of the stage.
func (s *stage) stop() { _ = syscall.Kill(-s.Process.Pid, syscall.SIGKILL) } // it may be gone

// ask asks the process group of the stage to end.
func (s *stage) ask() { _ = syscall.Kill(-s.Process.Pid, syscall.SIGTERM) } // it may be gone

func readingSupport() error { return landlockSupport() }

const filterFD = 5

func landlockSupport() error { return errors.New("landlock is a part of Linux; use docker") }

func kafelPolicy() (string, error) { return "", errors.New("nsjail is a part of Linux; use docker") }

func processesOfUser() uint64 { return 0 }

// patrol checks nothing here.
type patrol struct {
	memory  int64
	pids    int
	disk    int64
	folders []string
	cgroup  *group
}

func (*patrol) walk([]int, <-chan struct{}) string { return "" }

func (*patrol) broken(int) string { return "" }

type cgroups struct{}

type group struct{ join []string }

func findCgroups() *cgroups { return nil }

func (*cgroups) sweep() {}

func (*cgroups) version() string { return "" }

func (*cgroups) make(string, Limits) (*group, error) { return nil, errors.New("no cgroups") }

func (*group) remove() {}

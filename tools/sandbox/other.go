//go:build unix && !linux

package sandbox

import (
	"errors"
	"os/exec"
)

// Main does nothing: only Linux has what it is for.
func Main() {}

func readingSupport() error { return landlockSupport() }

const seccompFD = 9

func landlockSupport() error { return errors.New("landlock is a part of Linux; use docker") }

func reexec(r *request, dir string, argv []string) *exec.Cmd {
	return exec.Command(argv[0], argv[1:]...)
}

func kafelPolicy() (string, error) { return "", errors.New("nsjail is a part of Linux; use docker") }

func lives(int) bool { return false }

func processesOfUser() uint64 { return 0 }

// patrol looks at nothing here.
type patrol struct {
	memory  int64
	pids    int
	disk    int64
	folders []string
	cgroup  *group
}

func (*patrol) walk([]int, <-chan struct{}) string { return "" }

func (*patrol) broken(int) string { return "" }

func killBelow(int) {}

type cgroups struct{}

type group struct{ join []string }

func findCgroups() *cgroups { return nil }

func (*cgroups) sweep() {}

func (*cgroups) version() string { return "" }

func (*cgroups) make(string, Limits) (*group, error) { return nil, errors.New("no cgroups") }

func (*group) remove() {}

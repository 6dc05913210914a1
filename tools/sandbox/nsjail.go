package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
)

// nsjail confines with the same namespaces as bwrap, and the same filter of
// system calls.
type nsjail struct{ program string }

func newNsjail() (nsjail, error) {
	program, err := exec.LookPath("nsjail")
	if err != nil {
		return nsjail{}, errors.New("nsjail not found; use bwrap or landlock")
	}
	return nsjail{program}, nil
}

func (n nsjail) stage(r *request, argv []string) (*stage, error) {
	policy, err := kafelPolicy()
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"nsjail"}, nsjailArgs(r), []string{"--seccomp_string", policy, "--", "/usr/bin/env"}, argv)
	return r.stage(n.program, args, "/"), nil
}

// nsjailArgs are the arguments before the command.
func nsjailArgs(r *request) []string {
	l := r.config.Limits
	size := l.DiskMB << 20
	args := []string{
		"--mode", "o", "--really_quiet", "--disable_rlimits", "--hostname", "sandbox", "--cwd", r.dir,
		"--time_limit", strconv.Itoa(l.Seconds + 5), "--max_cpus", strconv.Itoa(int(math.Ceil(l.CPUs))),
		"--mount", fmt.Sprintf("none:/tmp:tmpfs:size=%d", size), "--mount", fmt.Sprintf("none:/dev/shm:tmpfs:size=%d", size),
	}
	visible := slices.Concat(systemFolders, systemFiles)
	if r.config.Network {
		args = append(args, "--disable_clone_newnet")
		visible = append(visible, networkFiles...)
	}
	for _, path := range existing(visible) {
		args = append(args, "--bindmount_ro", path)
	}
	for _, device := range devices {
		args = append(args, "--bindmount", device)
	}
	for _, b := range r.binds {
		how := "--bindmount_ro"
		if b.Writable {
			how = "--bindmount"
		}
		args = append(args, how, b.Host+":"+b.Inside)
	}
	for _, v := range r.env {
		args = append(args, "--env", v)
	}
	return args
}

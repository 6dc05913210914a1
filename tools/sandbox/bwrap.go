package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
)

// bwrap confines with the namespaces of bubblewrap: files, processes, network,
// users. What is not mounted is not there.
type bwrap struct{ program string }

func newBwrap() (bwrap, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return bwrap{}, errors.New("bwrap not found; install bubblewrap, or use docker or landlock")
	}
	return bwrap{program}, nil
}

func (b bwrap) stage(r *request, argv []string) (*stage, error) {
	r.bounds.Filter = true
	return r.stage(b.program, slices.Concat([]string{"bwrap"}, bwrapArgs(r), argv), "/"), nil
}

// systemFolders are the folders of the system that commands may read.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"}

// systemFiles are what programs need of /etc. Nothing tells of the users.
var systemFiles = []string{
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone",
	"/etc/mime.types", "/etc/nsswitch.conf", "/etc/bash.bashrc", "/etc/python3", "/etc/python3.11", "/etc/python3.12", "/etc/python3.13",
}

// networkFiles are what programs need for the network.
var networkFiles = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/ssl/certs", "/etc/ca-certificates",
}

// bwrapArgs are the arguments before the command. Later mounts lie over earlier
// ones.
func bwrapArgs(r *request) []string {
	size := strconv.Itoa(r.config.Limits.DiskMB << 20)
	args := []string{
		"--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox",
	}
	if !r.config.Network {
		args = append(args, "--unshare-net")
	}
	args = append(args, systemArgs()...)
	files := systemFiles
	if r.config.Network {
		files = append(files[:len(files):len(files)], networkFiles...)
	}
	for _, f := range files {
		args = append(args, "--ro-bind-try", f, f)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", size, "--tmpfs", "/tmp")
	for _, b := range r.binds {
		how := "--ro-bind"
		if b.Writable {
			how = "--bind"
		}
		args = append(args, how, b.Host, b.Inside)
	}
	return append(args, "--remount-ro", "/", "--chdir", r.dir, "--seccomp", strconv.Itoa(filterFD), "--")
}

// systemArgs mount the system as it is laid out here: a link stays a link.
func systemArgs() (args []string) {
	for _, dir := range systemFolders {
		if to, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", to, dir)
			continue
		}
		args = append(args, "--ro-bind-try", dir, dir)
	}
	return args
}

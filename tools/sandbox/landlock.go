package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
)

// landlocked confines without namespaces and without rights: files by Landlock,
// the network and what Landlock does not see by a seccomp filter. Paths are the
// host's.
type landlocked struct{}

func newLandlock() (landlocked, error) { return landlocked{}, landlockSupport() }

// devices are the devices that commands may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

func (landlocked) stage(r *request, argv []string) (*stage, error) {
	g := systemConfinement(r.config.Network)
	for _, b := range r.binds {
		if b.Writable {
			g.Write = append(g.Write, b.Host)
		} else {
			g.Read = append(g.Read, b.Host)
		}
	}
	r.bounds.Confine = &g
	return r.stage(find(argv[0]), argv, r.dir), nil
}

// find is the path of a program, or its name when there is none.
func find(name string) string {
	if filepath.Base(name) != name {
		return name
	}
	for _, dir := range filepath.SplitList(insidePath) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return name
}

// systemConfinement grants what every program needs of the system.
func systemConfinement(network bool) confinement {
	g := confinement{Read: existing(systemFolders), Write: existing(devices), Network: network}
	g.Read = append(g.Read, existing(systemFiles)...)
	if network {
		g.Read = append(g.Read, existing(networkFiles)...)
	}
	return g
}

// existing are the paths that exist.
func existing(paths []string) (all []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// Package needs is for tests that need a program or a right that a fresh machine
// may lack. There they do not run, and the last lines of make test name them.
// With CI=true what is missing makes them fail.
package needs

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// T is the test: of testing, or of testscript.
type T interface {
	Skip(...any)
	Fatal(...any)
}

// Program wants one of the programs, each a name to be looked for or a path. It
// comes with a package of the system.
func Program(t T, pack string, names ...string) {
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			return
		}
	}
	install := "apt-get install "
	if runtime.GOOS == "darwin" {
		install = "brew install "
	}
	Missing(t, pack, install+pack)
}

// Python wants the Python that commands in a sandbox find: their PATH is not the
// test's.
func Python(t T) {
	Program(t, "python3", "/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3")
}

// Root wants the rights of root.
func Root(t T) {
	if os.Geteuid() != 0 {
		Missing(t, "root", "sudo make test")
	}
}

// Sandbox wants what a sandbox of a type is made of: bwrap or landlock.
func Sandbox(t T, kind string) {
	if runtime.GOOS != "linux" {
		Missing(t, "the sandbox "+kind, "it runs on Linux alone")
		return
	}
	switch kind {
	case "bwrap":
		Program(t, "bubblewrap", "bwrap")
		if !namespaces() {
			Missing(t, "the right to make namespaces", "run it outside of a container, or sysctl kernel.unprivileged_userns_clone=1")
		}
	case "landlock":
		if !landlocked() {
			Missing(t, "Landlock", "a Linux kernel from 5.13 on that has it switched on")
		}
	}
}

// namespaces reports whether bubblewrap may do here what it is there for.
var namespaces = sync.OnceValue(func() bool {
	return exec.Command("bwrap", "--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "true").Run() == nil
})

// landlocked asks the kernel for its version of Landlock.
var landlocked = sync.OnceValue(func() bool {
	const createRuleset, version = 444, 1
	v, _, e := syscall.Syscall(createRuleset, 0, 0, version)
	return e == 0 && v >= 1
})

// Missing ends a test that lacks what it needs, and says how to get it. It reads
// CI only here: so Go keeps the results of tests that lack nothing when CI is set.
func Missing(t T, what, how string) {
	said := "not run: " + what + " is missing (" + how + ")"
	if os.Getenv("CI") == "true" {
		t.Fatal(said)
		return
	}
	t.Skip(said)
}

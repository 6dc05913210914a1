//go:build sandbox

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const nobody = 65534

// TestSandboxWithoutPrivileges runs the tests of this file's package once more as
// the user nobody: without cgroups, and with the limits that are the user's.
func TestSandboxWithoutPrivileges(t *testing.T) {
	if os.Getuid() == nobody {
		return // this is that run
	}
	dir, err := os.MkdirTemp("", "klawbot-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "tests")
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatalf("%v (this test needs root)", err)
	}
	c := exec.Command(program, "-test.run=^TestSandbox", "-test.v")
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

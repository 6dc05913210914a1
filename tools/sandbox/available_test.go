package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"klawbot/tools/sandbox"
)

// TestDockerNeedsItsDaemon: the client alone makes no sandbox.
func TestDockerNeedsItsDaemon(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("HOME", dir)
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	missing := func() error {
		all := sandbox.Candidates()
		if all[0].Type != sandbox.TypeDocker {
			t.Fatalf("%+v", all)
		}
		return all[0].Missing
	}
	_, err := os.Stat("/var/run/docker.sock")
	if why := missing(); err != nil && (why == nil || why.Error() != "no docker daemon listens; start it, or use bwrap or landlock") {
		t.Errorf("without a daemon docker lacks: %v", why)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if why := missing(); why != nil {
		t.Errorf("beside a daemon docker lacks: %v", why)
	}
}

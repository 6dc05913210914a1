package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
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
	_, err := os.Stat("/var/run/docker.sock")
	if named := slices.Contains(sandbox.Available(), sandbox.TypeDocker); named && err != nil {
		t.Error("docker is named without a daemon")
	}
	l, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !slices.Contains(sandbox.Available(), sandbox.TypeDocker) {
		t.Error("docker is not named beside a daemon")
	}
}

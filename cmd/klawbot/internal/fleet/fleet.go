// Package fleet runs several bots, each as a child process with its own directory, with
// one log and one health page. A bot that ends is started again; the others don't notice.
package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"klawbot/internal/wait"
)

// Config says which bots run.
type Config struct {
	// Dir holds a directory for each bot, with its config.yaml.
	Dir string
	// Program is klawbot.
	Program string
	// Listen is the address of the health page; empty: none.
	Listen string
	// Ask asks the bot of a directory why it is not healthy.
	Ask func(ctx context.Context, dir string) (faults []string, err error)
	// Out takes what the bots write, by lines.
	Out io.Writer
	Log *slog.Logger
}

const (
	lookEvery    = 5 * time.Second // for new directories, and a corrected config.yaml
	longestPause = time.Minute
	steady       = time.Minute // a bot that ran so long starts again at once
	stopTime     = 15 * time.Second
	exitUsage    = 2
)

// fleet are the bots that were found.
type fleet struct {
	Config
	run  func(ctx context.Context, name string) (code int, err error)
	mu   sync.Mutex // of Out and bots
	bots map[string]bool
	all  sync.WaitGroup
}

// Run runs the bots until ctx ends and all have stopped.
func Run(ctx context.Context, c Config) error {
	f := &fleet{Config: c, bots: map[string]bool{}}
	f.run = f.once
	if err := f.look(ctx); err != nil {
		return err
	}
	if len(f.names()) == 0 {
		return fmt.Errorf("no bots in %s: each needs a directory with a config.yaml", c.Dir)
	}
	stop, err := f.serve()
	if err != nil {
		return err
	}
	defer stop()
	for wait.For(ctx, lookEvery) {
		if err := f.look(ctx); err != nil {
			f.Log.Warn("bots not looked for", "err", err)
		}
	}
	f.all.Wait()
	return nil
}

func (f *fleet) names() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.bots {
		names = append(names, name)
	}
	return names
}

// look starts the bots that are new.
func (f *fleet) look(ctx context.Context) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		dir, err := os.Stat(filepath.Join(f.Dir, name)) // it may be a link
		if err != nil || !dir.IsDir() {
			continue
		}
		if _, err := os.Stat(f.config(name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f.mu.Lock()
		known := f.bots[name]
		f.bots[name] = true
		f.mu.Unlock()
		if !known {
			f.all.Go(func() { f.keep(ctx, name) })
		}
	}
	return nil
}

func (f *fleet) config(name string) string { return filepath.Join(f.Dir, name, "config.yaml") }

// keep runs one bot until ctx ends, or its configuration is gone.
func (f *fleet) keep(ctx context.Context, name string) {
	for n := 0; ctx.Err() == nil; n++ {
		before, err := os.Stat(f.config(name))
		if errors.Is(err, fs.ErrNotExist) {
			f.Log.Warn("bot removed; its config.yaml is gone", "bot", name)
			f.mu.Lock()
			delete(f.bots, name)
			f.mu.Unlock()
			return
		}
		began := time.Now()
		code, err := f.run(ctx, name)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > steady {
			n = 0
		}
		if code != exitUsage {
			pause := wait.Backoff(n, time.Second, longestPause)
			f.Log.Error("bot ended; starting it again", "bot", name, "err", err, "in", pause.Round(time.Millisecond))
			wait.For(ctx, pause)
			continue
		}
		f.Log.Error("bot not started; fix what its lines above name. A changed config.yaml starts it at once", "bot", name, "again_in", longestPause)
		// What is wrong may also be a file that config.yaml names, such as a token's.
		for again := time.Now().Add(longestPause); time.Now().Before(again) && wait.For(ctx, lookEvery); {
			if after, err := os.Stat(f.config(name)); err != nil || before == nil || after.ModTime() != before.ModTime() {
				break
			}
		}
	}
}

// once runs one bot until it ends.
func (f *fleet) once(ctx context.Context, name string) (code int, err error) {
	dir := filepath.Join(f.Dir, name)
	cmd := exec.CommandContext(ctx, f.Program)
	cmd.Args = []string{"klawbot", "run", "--config", f.config(name), "--data", dir}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	// Its own health page would need a port of its own.
	cmd.Env = append(os.Environ(), "KLAWBOT_HOME="+dir, "KLAWBOT_HEALTH__LISTEN=")
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	var copied sync.WaitGroup
	copied.Go(func() { f.copy(name, r) })
	err = cmd.Run()
	_ = w.Close() // a pipe in memory
	copied.Wait()
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return code, err
}

// copy puts the name of a bot into each line that it writes.
func (f *fleet) copy(name string, from io.Reader) {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		line, _, err := in.ReadLine()
		if err != nil {
			return
		}
		f.mu.Lock()
		if len(line) > 1 && line[0] == '{' {
			_, err = fmt.Fprintf(f.Out, "{%q:%q,%s\n", "bot", name, line[1:])
		} else {
			_, err = fmt.Fprintf(f.Out, "%s: %s\n", name, line)
		}
		f.mu.Unlock()
		if err != nil {
			_, _ = io.Copy(io.Discard, in) // the bot must not wait for a log that is gone
			return
		}
	}
}

// wellness is what the health page says of a bot.
type wellness struct {
	OK     bool     `json:"ok"`
	Faults []string `json:"faults,omitempty"`
}

// serve opens the health page.
func (f *fleet) serve() (stop func(), err error) {
	if f.Listen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", f.Listen)
	if err != nil {
		return nil, fmt.Errorf("health page: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", f.health)
	mux.HandleFunc("GET /{$}", f.health)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(f.Log.Handler(), slog.LevelDebug)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			f.Log.Error("health page ended", "err", err)
		}
	}()
	return func() {
		_ = server.Close() // the process ends
		<-served
	}, nil
}

func (f *fleet) health(w http.ResponseWriter, r *http.Request) {
	answer := struct {
		OK   bool                `json:"ok"`
		Bots map[string]wellness `json:"bots"`
	}{true, map[string]wellness{}}
	for _, name := range f.names() {
		faults, err := f.Ask(r.Context(), filepath.Join(f.Dir, name))
		if err != nil {
			faults = []string{"not running"}
		}
		answer.Bots[name] = wellness{len(faults) == 0, faults}
		answer.OK = answer.OK && len(faults) == 0
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !answer.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer) // who asked may be gone
}

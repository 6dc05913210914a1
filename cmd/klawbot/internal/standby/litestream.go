package standby

import (
	"bytes"
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
	"strings"
	"time"

	"klawbot/internal/atomicfile"
	"klawbot/internal/httpclient"
	"klawbot/internal/wait"
	"klawbot/tools/sandbox"
)

const (
	// syncTime bounds one round of replication.
	syncTime = 10 * time.Second
	// restoreTime bounds the restore of a database.
	restoreTime = 10 * time.Minute
	socketFile  = "litestream.sock"
)

// litestream replicates the database: Litestream as a child of the bot.
type litestream struct {
	program string
	dir     string // for its configuration and its socket
	db      string
	place   place
	epoch   int
	log     *slog.Logger
	http    *http.Client
}

func (s *litestream) files() error { return os.MkdirAll(s.dir, 0o700) }

// configure writes the configuration, which JSON is a form of, and returns its name and
// the environment. Keys stand only in the environment.
func (s *litestream) configure(epoch int) (file string, environ []string, err error) {
	replica, environ := s.place.replica(replicaFolder(epoch) + "/db")
	replica["sync-interval"] = "1s"
	body, err := json.Marshal(map[string]any{
		"socket": map[string]any{"enabled": true, "path": socketFile},
		"dbs":    []any{map[string]any{"path": s.db, "replica": replica}},
	})
	file = filepath.Join(s.dir, "litestream.yml")
	if err == nil {
		err = errors.Join(s.files(), atomicfile.Write(file, body, 0o600))
	}
	return file, environ, err
}

// find is the path of the program.
func (s *litestream) find() (string, error) {
	found, err := exec.LookPath(s.program)
	if err != nil {
		return "", fmt.Errorf("%s isn't installed; the standby needs Litestream 0.5.8 or newer: https://litestream.io/install, or set standby.litestream", s.program)
	}
	return filepath.Abs(found)
}

// run keeps Litestream running until ctx ends.
func (s *litestream) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		err := s.once(ctx)
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("litestream ended; starting it again", "err", err)
		if time.Since(began) > time.Minute {
			n = 0
		}
		wait.For(ctx, wait.Backoff(n, time.Second, 10*time.Second))
	}
}

func (s *litestream) once(ctx context.Context) error {
	program, err := s.find()
	if err != nil {
		return err
	}
	file, environ, err := s.configure(s.epoch)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.dir, socketFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p, err := sandbox.Off().Start(ctx, sandbox.Command{
		Argv: []string{program, "replicate", "-config", file}, Dir: s.dir, Env: environ, MaxOutput: 16 << 10,
	})
	if err != nil {
		return err
	}
	<-p.Done()
	return ended(p.Outcome())
}

// ended is the error of a program that ended, by its last line.
func ended(o sandbox.Outcome) error {
	lines := strings.Split(strings.TrimSpace(o.Stdout.String()+o.Stderr.String()), "\n")
	return fmt.Errorf("litestream: exit code %d: %s", o.ExitCode, lines[len(lines)-1])
}

// sync returns when the place has everything that was committed before.
func (s *litestream) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	body, err := json.Marshal(map[string]any{"path": s.db, "wait": true, "timeout": int(syncTime / time.Second)})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://litestream/sync", bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("litestream: HTTP %d %s", answer.StatusCode, bytes.TrimSpace(said))
	}
	return err
}

// socketClient speaks with the socket in a directory, whose name may be too long for
// one.
func socketClient(dir string) *http.Client {
	return httpclient.New(httpclient.Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		folder, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		name := fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), socketFile)
		if _, err := os.Stat("/proc/self/fd"); err != nil {
			name = filepath.Join(dir, socketFile)
		}
		return new(net.Dialer).DialContext(ctx, "unix", name)
	}})
}

// restore writes the database of an epoch to a file.
func (s *litestream) restore(ctx context.Context, epoch int, to string) error {
	program, err := s.find()
	if err != nil {
		return err
	}
	file, environ, err := s.configure(epoch)
	if err != nil {
		return err
	}
	for _, name := range []string{to, to + "-wal", to + "-shm", to + ".tmp"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	o, err := sandbox.Off().Run(ctx, sandbox.Command{
		Argv: []string{program, "restore", "-config", file, "-integrity-check", "quick", "-o", to, s.db},
		Dir:  s.dir, Env: environ, Timeout: restoreTime, MaxOutput: 16 << 10,
	})
	if err != nil {
		return err
	}
	if o.ExitCode != 0 {
		return ended(o)
	}
	return nil
}

// checkpoints says whether Litestream makes the checkpoints of the database; package sqlite
// looks for the file. Else klawbot's could take away what Litestream has not read.
func checkpoints(db string, litestream bool) error {
	name := db + "-replicated"
	if litestream {
		return os.WriteFile(name, nil, 0o600)
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Off tells a data directory that nothing replicates it any more. A directory that takes
// no changes is left to those who open it: they say whose it must be.
func Off(data string) error {
	err := checkpoints(filepath.Join(data, database), false)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// forget removes what Litestream keeps beside the database about an earlier replica.
func (s *litestream) forget() error {
	return os.RemoveAll(filepath.Join(filepath.Dir(s.db), "."+filepath.Base(s.db)+"-litestream"))
}

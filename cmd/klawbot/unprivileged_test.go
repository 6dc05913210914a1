//go:build crash && linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/needs"
	"klawbot/internal/telegramtest"
)

// Root may do everything, so the tests of this file run the bot as the user
// nobody. They need root for that, and setpriv of util-linux.
const nobody = 65534

// unprivileged is a rig whose bot runs as nobody in a folder of nobody's.
type unprivileged struct {
	*rig
	data   string
	binary string
}

func newUnprivileged(t *testing.T) unprivileged {
	t.Helper()
	needs.Root(t)
	r := newRig(t, "edit", 11)
	u := unprivileged{rig: r, data: filepath.Join(r.dir, "data"), binary: filepath.Join(r.dir, "as-nobody")}
	// What the testing package makes is the user's own.
	for _, dir := range []string{r.dir, filepath.Dir(r.dir)} {
		u.set(dir, 0, 0o755)
	}
	u.mkdir(u.data, nobody, 0o700)
	u.set(r.config, nobody, 0o600)
	program := filepath.Join(r.dir, "klawbot")
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	u.write(program, text, 0, 0o755)
	// The umask is the worst there is: modes must not depend on it.
	wrapper := fmt.Sprintf("#!/bin/sh\numask 000\ncd %[1]q || exit 99\nHOME=%[1]q exec setpriv --reuid=%[2]d --regid=%[2]d --clear-groups --no-new-privs %[3]q \"$@\"\n",
		r.dir, nobody, program)
	u.write(u.binary, []byte(wrapper), 0, 0o755)
	return u
}

func (u unprivileged) set(name string, owner int, mode fs.FileMode) {
	u.t.Helper()
	if err := os.Chown(name, owner, owner); err != nil {
		u.t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		u.t.Fatal(err)
	}
}

func (u unprivileged) write(name string, text []byte, owner int, mode fs.FileMode) {
	u.t.Helper()
	if err := os.WriteFile(name, text, mode); err != nil {
		u.t.Fatal(err)
	}
	u.set(name, owner, mode)
}

func (u unprivileged) mkdir(name string, owner int, mode fs.FileMode) {
	u.t.Helper()
	if err := os.Mkdir(name, mode); err != nil {
		u.t.Fatal(err)
	}
	u.set(name, owner, mode)
}

// refuses wants that klawbot ends with the code and one line that has all the
// words.
func (u unprivileged) refuses(code int, args []string, words ...string) {
	u.t.Helper()
	cmd := exec.Command(u.binary, args...)
	out, _ := cmd.CombinedOutput() // the exit code is looked at
	text := strings.TrimSpace(string(out))
	if got := cmd.ProcessState.ExitCode(); got != code || strings.Contains(text, "\n") {
		u.t.Errorf("klawbot %s: exit code %d, want %d and one line:\n%s", strings.Join(args, " "), got, code, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			u.t.Errorf("klawbot %s: %q lacks %q", strings.Join(args, " "), text, word)
		}
	}
}

// refusesToRun is refuses for the bot itself.
func (u unprivileged) refusesToRun(code int, words ...string) {
	u.t.Helper()
	u.refuses(code, []string{"run", "--config", u.config}, words...)
}

func TestUnprivilegedRun(t *testing.T) {
	u := newUnprivileged(t)
	u.model.Respond(worker(0))
	b := u.start(u.binary)
	u.telegram.User(11).Send("task 0")
	u.wait(b, "the task is answered", func(v telegramtest.State) bool { return answered(v, 11, 0) })
	u.refuses(0, []string{"health", "--config", u.config})
	u.hasModes(map[string]fs.FileMode{"": 0o700, "klawbot.sock": 0o600, "klawbot.db": 0o600, "klawbot.db-wal": 0o600, "klawbot.lock": 0o600})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	u.hasModes(map[string]fs.FileMode{"conversations": 0o700}) // the logs follow a moment later
	u.count(11, 1).check(t)
}

// hasModes compares the rights of files in the data directory.
func (u unprivileged) hasModes(modes map[string]fs.FileMode) {
	u.t.Helper()
	for name, want := range modes {
		info, err := os.Stat(filepath.Join(u.data, name))
		if err != nil {
			u.t.Error(err)
		} else if got := info.Mode().Perm(); got != want {
			u.t.Errorf("%q has the mode %o, want %o", name, got, want)
		}
	}
}

// TestUnprivilegedKeepsItsEnvironment looks at a bot as the commands may that it
// runs outside a sandbox: as another process of the same user. Root, who sees
// every environment, finds no secret in the bot's.
func TestUnprivilegedKeepsItsEnvironment(t *testing.T) {
	u := newUnprivileged(t)
	b := u.start(u.binary, "KLAWBOT_MODELS__PROVIDERS__FAKE__APIKEY="+canaryKey, "OPENAI_API_KEY=sk-canary-of-another-provider", "CANARY=nothing-secret")
	u.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	as := func(user int, name string) (string, error) {
		read := exec.Command("cat", fmt.Sprintf("/proc/%d/%s", b.cmd.Process.Pid, name))
		read.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
		out, err := read.CombinedOutput()
		return string(out), err
	}
	for _, name := range []string{"environ", "maps", "mem"} {
		if out, err := as(nobody, name); err == nil || !strings.Contains(out, "Permission denied") {
			t.Errorf("another process of the user reads %s: %v, %.200q", name, err, out)
		}
	}
	out, err := as(0, "environ")
	if err != nil || !strings.Contains(out, "CANARY=nothing-secret") {
		t.Fatalf("%v, %q", err, out)
	}
	if strings.Contains(out, "sk-canary") {
		t.Errorf("the environment still holds a key: %q", out)
	}
	// The bot itself works on with what it has read.
	u.model.Respond(worker(0))
	u.telegram.User(11).Send("task 0")
	u.wait(b, "the task is answered", func(v telegramtest.State) bool { return answered(v, 11, 0) })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

func TestUnprivilegedMakesItsFolder(t *testing.T) {
	u := newUnprivileged(t)
	u.set(u.dir, nobody, 0o755)
	if err := os.Remove(u.data); err != nil {
		t.Fatal(err)
	}
	b := u.start(u.binary)
	u.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	for _, name := range []string{u.data, u.workspace()} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("%s has the mode %o, want 700", name, got)
		}
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestUnprivilegedConfiguration(t *testing.T) {
	advice := fmt.Sprintf("chown %d ", nobody)
	t.Run("of another user", func(t *testing.T) {
		u := newUnprivileged(t)
		u.set(u.config, 0, 0o600)
		u.refusesToRun(exitUsage, u.config, "permission denied", advice+u.config)
	})
	t.Run("in a closed folder", func(t *testing.T) {
		u := newUnprivileged(t)
		closed := filepath.Join(u.dir, "closed")
		u.mkdir(closed, 0, 0o700)
		u.write(filepath.Join(closed, "config.yaml"), []byte("{}"), nobody, 0o600)
		u.config = filepath.Join(closed, "config.yaml")
		u.refusesToRun(exitUsage, u.config, fmt.Sprintf("permission denied; let user %d enter its directory", nobody))
	})
	t.Run("token file of another user", func(t *testing.T) {
		u := newUnprivileged(t)
		token := filepath.Join(u.dir, "token")
		u.write(token, []byte(u.telegram.Token()), 0, 0o600)
		u.configure(fmt.Sprintf("token: %q", u.telegram.Token()), "tokenFile: "+token)
		u.refusesToRun(exitUsage, "channels.telegram.tokenFile", token, "permission denied", advice+token)
	})
}

func TestUnprivilegedDataFolder(t *testing.T) {
	owner := fmt.Sprintf("chown -R %d ", nobody)
	for name, tt := range map[string]struct {
		owner int
		mode  fs.FileMode
	}{
		"closed":                        {0, 0o700},
		"of another user, open to read": {0, 0o755},
		"read-only":                     {nobody, 0o500},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnprivileged(t)
			u.set(u.data, tt.owner, tt.mode)
			u.refusesToRun(exitFailed, u.data, "permission denied", owner+u.data)
		})
	}
	t.Run("missing, in a folder of another user", func(t *testing.T) {
		u := newUnprivileged(t)
		if err := os.Remove(u.data); err != nil {
			t.Fatal(err)
		}
		u.refusesToRun(exitFailed, "permission denied", fmt.Sprintf("install -d -m 700 -o %d %s", nobody, u.data))
	})
	t.Run("of another user, used before", func(t *testing.T) {
		u := newUnprivileged(t)
		b := u.start("")
		u.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
		b.stop()
		u.set(u.data, nobody, 0o700)
		u.refusesToRun(exitFailed, u.data, "permission denied", owner+u.data)
		u.refuses(exitFailed, []string{"sessions", "--config", u.config}, "permission denied", owner+u.data)
	})
}

// TestUnprivilegedWorkspace lets the model write into a workspace that belongs
// to another user: the model is told, and the bot keeps answering.
func TestUnprivilegedWorkspace(t *testing.T) {
	u := newUnprivileged(t)
	u.mkdir(u.workspace(), 0, 0o755)
	u.model.Push(modeltest.CallTool("file_write", map[string]any{"path": "a.txt", "content": "a"}), modeltest.Text("I could not"), modeltest.Text("still here"))
	b := u.start(u.binary)
	u.telegram.User(11).Send("write")
	u.wait(b, "the answer", func(v telegramtest.State) bool { return strings.Contains(v.Transcript(11), "I could not") })
	asked := u.model.Completions()
	if told := conversation(asked[len(asked)-1]); !strings.Contains(told, "Error: permission denied: a.txt") {
		t.Errorf("the model was told:\n%s", told)
	}
	u.telegram.User(11).Send("and now?")
	u.wait(b, "the next answer", func(v telegramtest.State) bool { return strings.Contains(v.Transcript(11), "still here") })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

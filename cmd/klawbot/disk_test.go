//go:build crash && linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/needs"
	"klawbot/internal/telegramtest"
)

// The promises about a disk that takes nothing, 10 s and 60 s, three times as long:
// the machine may have other work too.
const (
	toldWithin      = 30 * time.Second
	recoveredWithin = 3 * time.Minute
)

// cannotStore is in the one sentence that a person reads until then.
const cannotStore = "Can't save messages right now"

// onTmpfs gives a rig a data directory of some size that is a file system of its
// own.
func (r *rig) onTmpfs(size string) (data string) {
	r.t.Helper()
	data = filepath.Join(r.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		r.t.Fatal(err)
	}
	needsMounts(r.t)
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		r.t.Fatalf("mount a tmpfs: %v", err)
	}
	r.t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) }) // the folder goes anyway
	return data
}

// needsMounts wants that file systems can be mounted: root in most containers may
// not.
func needsMounts(t testing.TB) {
	t.Helper()
	needs.Root(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		needs.Missing(t, "the right to mount", "run it outside of a container")
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
}

// filler takes the space of a file system.
type filler struct {
	t    *testing.T
	name string
}

// fill leaves about so many bytes.
func (f filler) fill(leave int64) {
	f.t.Helper()
	file, err := os.OpenFile(f.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 4096); ; {
		if _, err := file.Write(block); err != nil {
			break
		}
	}
	info, err := file.Stat()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := file.Truncate(max(0, info.Size()-leave)); err != nil {
		f.t.Fatal(err)
	}
}

func (f filler) free() {
	f.t.Helper()
	if err := os.Remove(f.name); err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
}

// saidAfter waits until the bot has said something that a chat did not show at
// a time before, and reports what.
func (r *rig) saidAfter(chat int64, seen int, limit time.Duration, match func(string) bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return r.telegram.WaitFor(ctx, func(v telegramtest.State) bool {
		for _, m := range v.Messages(chat)[seen:] {
			if m.Bot && !m.Deleted && match(m.Text) {
				return true
			}
		}
		return false
	}) == nil
}

// TestFullDisk fills the disk POINTS times to a random remainder while a person
// writes. Each time the person gets the answer, or one sentence within 10 s and
// the answer within 60 s after there is space again.
func TestFullDisk(t *testing.T) {
	points := 4
	if n, err := strconv.Atoi(os.Getenv("POINTS")); err == nil {
		points = n
	}
	const chat = 11
	r := newRig(t, "edit", chat)
	data := r.onTmpfs("24m")
	disk := filler{t, filepath.Join(data, "filler")}
	r.model.Respond(func(q modeltest.Request) modeltest.Reply { return modeltest.Text("done " + lastTask(q)) })
	b := r.start("")
	r.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	held, slowest := 0, time.Duration(0)
	var told time.Time
	for n := range points {
		leave := int64(0)
		if n > 0 {
			leave = rand.Int64N(12) * 4096
		}
		disk.fill(leave)
		seen := len(r.telegram.Messages(chat))
		r.telegram.User(chat).Send(fmt.Sprintf("task %d", n))
		final := fmt.Sprintf("done %d", n)
		isSorry := func(text string) bool { return strings.Contains(text, cannotStore) }
		limit := toldWithin
		if time.Since(told) < time.Minute {
			limit = rand.N(500 * time.Millisecond) // one notice a minute
		}
		heard := r.saidAfter(chat, seen, limit, func(text string) bool { return strings.HasSuffix(text, final) || isSorry(text) })
		if !heard && limit == toldWithin {
			t.Errorf("with %d bytes free the person heard nothing:\n%s\n%s", leave, r.telegram.Transcript(chat), tailOf(b.log.String()))
		}
		if !r.isAnswered(chat, n) {
			held++
		}
		if r.saidAfter(chat, seen, time.Millisecond, isSorry) {
			told = time.Now()
		}
		disk.free()
		freed := time.Now()
		if !r.saidAfter(chat, seen, recoveredWithin, func(text string) bool { return strings.HasSuffix(text, final) }) {
			t.Fatalf("task %d has no answer %s after there was space again:\n%s\n%s", n, recoveredWithin, r.telegram.Transcript(chat), tailOf(b.log.String()))
		}
		slowest = max(slowest, time.Since(freed))
	}
	select {
	case <-b.exited:
		t.Fatalf("the bot ended:\n%s", tailOf(b.log.String()))
	default:
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	result := r.count(chat, points)
	result.check(t)
	if result.MarkedFinals > 0 || result.Placeholders > 0 {
		t.Errorf("%s", result)
	}
	checkIntegrity(t, data)
	t.Logf("%d times full, %d answers held up; %s; the slowest recovery took %s", points, held, result, slowest.Round(time.Millisecond))
}

// checkIntegrity reads every page of the database of a stopped bot.
func checkIntegrity(t *testing.T, data string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(data, "klawbot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity check: %q, %v", result, err)
	}
}

// TestFullDiskForAFile: the disk has room for messages and none for the file that comes.
// The person reads that, and the same file is read when there is room.
func TestFullDiskForAFile(t *testing.T) {
	const chat = 11
	r := newRig(t, "off", chat)
	data := r.onTmpfs("24m")
	disk := filler{t, filepath.Join(data, "filler")}
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		return modeltest.Text(fmt.Sprint("read: ", strings.Contains(q.LastUser(), "line 1 of many")))
	})
	b := r.start("")
	r.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	disk.fill(3 << 20)
	list := r.telegram.AddFile(telegramtest.File{Name: "long.txt", Data: bytes.Repeat([]byte("line 1 of many\n"), 400_000)})
	for _, want := range []string{"The disk is full, so I couldn't save long.txt. Free some space, then send it again.", "read: true"} {
		r.telegram.User(chat).Post(telegramtest.Draft{Document: list})
		r.wait(b, want, func(v telegramtest.State) bool { return strings.Contains(v.Transcript(chat), want) })
		disk.free()
	}
	if left, err := filepath.Glob(filepath.Join(data, "media", ".klawbot-*")); err != nil || len(left) > 0 {
		t.Errorf("what could not be kept left %v, %v", left, err)
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestFullDiskAtStart holds that the start fails with one line.
func TestFullDiskAtStart(t *testing.T) {
	r := newRig(t, "edit", 11)
	data := r.onTmpfs("1m")
	filler{t, filepath.Join(data, "filler")}.fill(0)
	r.failsToStart(data)
}

// TestReadOnlyDiskAtStart holds the same for a file system that takes no
// writes, for a data directory that was used before and for a new one.
func TestReadOnlyDiskAtStart(t *testing.T) {
	for name, used := range map[string]bool{"new": false, "used": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "edit", 11)
			data := r.onTmpfs("24m")
			if used {
				b := r.start("")
				r.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
				b.stop()
			}
			if err := syscall.Mount("", data, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			r.failsToStart(data)
		})
	}
}

// failsToStart wants exit code 1 and one line that names the folder.
func (r *rig) failsToStart(data string) {
	r.t.Helper()
	b := r.start("")
	select {
	case <-b.exited:
	case <-time.After(2 * time.Minute):
		r.t.Fatalf("the bot runs on:\n%s", tailOf(b.log.String()))
	}
	text := strings.TrimSpace(b.log.String())
	if code := b.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(text, data) || strings.Contains(text, "\n") {
		r.t.Errorf("exit code %d, want 1 and one line with the folder:\n%s", code, text)
	}
}

// TestDiskBecomesReadOnly lets an ext4 find an error under a running bot, so
// that the kernel makes it read-only, and repairs it again.
func TestDiskBecomesReadOnly(t *testing.T) {
	const chat = 11
	r := newRig(t, "edit", chat)
	data := filepath.Join(r.dir, "data")
	device := loopDisk(t, data)
	r.model.Respond(func(q modeltest.Request) modeltest.Reply { return modeltest.Text("done " + lastTask(q)) })
	b := r.start("")
	r.telegram.User(chat).Send("task 0")
	r.wait(b, "it answers", func(v telegramtest.State) bool { return answered(v, chat, 0) })

	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(device), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("1"), 0o200); err != nil {
		t.Fatal(err)
	}
	seen := len(r.telegram.Messages(chat))
	r.telegram.User(chat).Send("task 1")
	if !r.saidAfter(chat, seen, toldWithin, func(text string) bool { return strings.Contains(text, cannotStore) }) {
		t.Errorf("the person heard nothing:\n%s\n%s", r.telegram.Transcript(chat), tailOf(b.log.String()))
	}
	out, err := beside(r, "status")
	if err == nil || !strings.Contains(out, "unhealthy: database: ") {
		t.Errorf("status says %q, %v", out, err)
	}
	if out, err := beside(r, "health"); err == nil {
		t.Errorf("health says %q", out)
	}
	select {
	case <-b.exited:
		t.Fatalf("the bot ended:\n%s", tailOf(b.log.String()))
	default:
	}
	if code := b.stop(); code > 1 || code < 0 {
		t.Errorf("exit code %d", code)
	}
	// A damaged file system is repaired while it is unused.
	unmount(t, data)
	waitUntilFree(t, device)
	system(t, "e2fsck", "-fy", device)
	if err := syscall.Mount(device, data, "ext4", 0, "errors=remount-ro"); err != nil {
		t.Fatal(err)
	}
	b = r.start("")
	r.wait(b, "the message is answered", func(v telegramtest.State) bool { return answered(v, chat, 1) })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	result := r.count(chat, 2)
	result.check(t)
	checkIntegrity(t, data)
}

// loopDisk mounts a small ext4 in a file on a folder and returns its device.
func loopDisk(t *testing.T, dir string) (device string) {
	t.Helper()
	needsMounts(t)
	needs.Program(t, "e2fsprogs", "mkfs.ext4")
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		needs.Missing(t, "the kernel's loop device", "modprobe loop, outside of a container")
	}
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 48<<20); err != nil {
		t.Fatal(err)
	}
	system(t, "mkfs.ext4", "-q", "-F", image)
	device = strings.TrimSpace(system(t, "losetup", "--find", "--show", image))
	t.Cleanup(func() { system(t, "losetup", "--detach", device) })
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(device, dir, "ext4", 0, "errors=remount-ro"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // the image goes anyway
	return device
}

func unmount(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
}

// waitUntilFree waits until no mount namespace holds a device. A sandbox that
// another test started while it was mounted has a copy of the mount until it
// ends.
func waitUntilFree(t *testing.T, device string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		f, err := os.OpenFile(device, os.O_RDONLY|syscall.O_EXCL, 0)
		if err == nil {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// system runs a program of the system. e2fsck exits with 1 when it repaired
// something.
func system(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil && !(name == "e2fsck" && strings.Contains(err.Error(), "exit status 1")) {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// command runs klawbot beside the bot of a rig.
func beside(r *rig, args ...string) (string, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Args = append([]string{"klawbot", "--config", r.config}, args...)
	cmd.Env = os.Environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

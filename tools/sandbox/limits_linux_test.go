package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/tools/sandbox"
)

var markers atomic.Int64

// marker is a number of seconds that no other process sleeps.
func marker() string { return fmt.Sprintf("%d.%d", 100000+os.Getpid(), markers.Add(1)) }

// running are the processes whose command line has the word.
func running(word string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains("\x00"+string(text), "\x00"+word+"\x00") {
			n++
		}
	}
	return n
}

func TestSandboxLeavesNoProcessBehindAtTheDeadline(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		deadline := 700 * time.Millisecond
		if kind == sandbox.TypeDocker {
			deadline = 8 * time.Second // on a busy machine it takes seconds to start
		}
		for name, script := range map[string]string{
			"plain":       "sleep M",
			"child":       "sleep M & wait",
			"session":     "setsid sleep M & sleep M",
			"orphan":      "(setsid sh -c 'sleep M &' &); sleep M",
			"no marks":    "(env -i /usr/bin/setsid /bin/sh -c '/bin/sleep M & /bin/sleep M' &); sleep M",
			"deaf":        "trap '' TERM INT HUP QUIT; while :; do sleep M; done",
			"left behind": "(env -i /usr/bin/setsid /bin/sleep M >/dev/null 2>&1 </dev/null &); sleep 0.2; exit 0",
		} {
			m := marker()
			c := sandbox.Command{Argv: []string{"sh", "-c", strings.ReplaceAll(script, "M", m)}, Dir: b.workspace, Timeout: deadline}
			if name == "left behind" {
				c.Timeout = 20 * time.Second // it ends by itself
			}
			begun := time.Now()
			out := mustRun(t, b, c)
			if took := time.Since(begun); took > deadline+20*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
			if out.TimedOut == (name == "left behind") {
				t.Errorf("%s: outcome %+v %s", name, out, out.Stderr.String())
			}
			if n := running(m); n > 0 {
				t.Errorf("%s: %d processes run on", name, n)
			}
		}
	})
}

func TestSandboxLeavesNoProcessBehindWhenStopped(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b, m := newBox(t, kind, nil), marker()
		ctx, cancel := context.WithCancel(t.Context())
		p, err := b.Start(ctx, sandbox.Command{Argv: []string{"sh", "-c", "setsid sleep " + m + " & echo up; sleep " + m}, Dir: b.workspace})
		if err != nil {
			t.Fatal(err)
		}
		for stdout, _ := p.Output(); stdout.Total == 0; stdout, _ = p.Output() {
			runtime.Gosched()
		}
		cancel()
		if out := p.Outcome(); !out.Stopped || running(m) > 0 {
			t.Errorf("outcome %+v, %d run on", out, running(m))
		}
	})
}

// TestSandboxDiesWithTheBot kills a bot that runs a command. The next one takes
// away what is left in the folder for temporary files.
func TestSandboxDiesWithTheBot(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		t.Setenv("TMPDIR", t.TempDir())
		m, b := marker(), newBox(t, kind, nil)
		c := exec.Command(os.Args[0], "sh", "-c", "(setsid sh -c 'sleep "+m+" & sleep "+m+"' &); echo up >up; sleep "+m)
		c.Dir, c.Stderr = b.workspace, os.Stderr
		c.Env = append(os.Environ(), "KLAWBOT_TEST_BOT="+kind, "PWD="+b.workspace)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		within(t, 30*time.Second, func() bool { return running(m) >= 2 })
		_ = c.Process.Kill()
		_ = c.Wait()
		if kind == sandbox.TypeDocker {
			b.Sweep() // as the next start of the bot does
		}
		within(t, 10*time.Second, func() bool { return running(m) == 0 })
		newBox(t, kind, nil).Sweep() // it is another's
		if left, err := filepath.Glob(filepath.Join(os.TempDir(), "klawbot-run-*")); err != nil || (len(left) > 0) != (kind == sandbox.TypeLandlock) {
			t.Errorf("left behind: %q, %v", left, err)
		}
		b.Sweep()
		if left, err := filepath.Glob(filepath.Join(os.TempDir(), "klawbot-run-*")); err != nil || len(left) > 0 {
			t.Errorf("still there: %q, %v", left, err)
		}
	})
}

// within waits until the condition holds, and fails when it does not in time.
func within(t *testing.T, patience time.Duration, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(begun) > patience {
			t.Fatalf("it did not happen within %s", patience)
		}
	}
}

func TestSandboxBoundsTheTime(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, func(c *sandbox.Config) { c.Limits.Seconds = 1 })
		out := mustRun(t, b, sandbox.Command{Argv: []string{"sh", "-c", "while :; do :; done"}, Dir: b.workspace, Timeout: time.Hour})
		if !out.TimedOut || out.Duration > 10*time.Second {
			t.Errorf("outcome %+v", out)
		}
	})
}

func TestSandboxBoundsTheMemory(t *testing.T) {
	grow := "b=[]\nfor i in range(1000): b.append(bytearray(b'x')*(10<<20)); open('grown','w').write(str(i*10))\n"
	for name, code := range map[string]string{
		"one process": grow,
		// Each holds its memory until one of them is gone, however slow they are.
		"many": `
import os,time,glob
for n in range(12):
  if os.fork()==0:
    b=bytearray(b'x')*(60<<20)
    open('part%d'%n,'w').write('60')
    while not os.path.exists('release'): time.sleep(.02)
    os._exit(0)
gone=lambda: os.waitpid(-1,os.WNOHANG)[0]!=0
lost=False
while len(glob.glob('part*'))<12 and not lost:
  lost=gone()
  time.sleep(.02)
if not lost:
  time.sleep(3)
  if not gone(): open('all','w').write('x')
open('release','w')
`,
		"shared": "import mmap\nb=[]\nfor i in range(200):\n  m=mmap.mmap(-1,10<<20); m.write(b'x'*(10<<20)); b.append(m); open('grown','w').write(str(i*10))",
	} {
		t.Run(name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				b := newBox(t, kind, nil)
				out := b.python(code)
				if out.ExitCode == 0 && name != "many" {
					t.Errorf("it succeeded: %+v", out)
				}
				if grown, err := os.ReadFile(filepath.Join(b.workspace, "grown")); err == nil {
					if n, _ := strconv.Atoi(string(grown)); n > 256 {
						t.Errorf("it had %d MB", n)
					}
				}
				if _, err := os.Stat(filepath.Join(b.workspace, "all")); err == nil && out.Broken == "" {
					t.Errorf("12 processes had 60 MB each: %+v", out)
				}
				t.Logf("exit code %d, broken %q, %.60q", out.ExitCode, out.Broken, out.Stderr.String())
			})
		})
	}
}

func TestSandboxBoundsTheProcesses(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		seconds := 3
		if kind == sandbox.TypeDocker {
			seconds = 12 // on a busy machine it takes seconds to start
		}
		b, m := newBox(t, kind, func(c *sandbox.Config) { c.Limits.Seconds = seconds }), marker()
		out := b.python(`
import os,time
n=0
for i in range(400):
    try:
        if os.fork()==0:
            os.execv('/bin/sleep',['sleep','` + m + `'])
        n+=1
    except OSError: break
print(n,flush=True)
`)
		n, _ := strconv.Atoi(strings.TrimSpace(out.Stdout.String()))
		if (n == 0 || n > 80) && out.Broken != "processes" {
			t.Errorf("%d processes: %+v %s", n, out, out.Stderr.String())
		}
		if left := running(m); left > 0 {
			t.Errorf("%d run on", left)
		}
		bomb := b.sh(`f() { f | f & }; f; sleep ` + m)
		if left := running(m); left > 0 {
			t.Errorf("%d run on after the bomb: %+v", left, bomb)
		}
	})
}

func TestSandboxBoundsTheDisk(t *testing.T) {
	for name, script := range map[string]string{
		"one file": "head -c 400000000 /dev/zero >big",
		"many":     "i=0; while [ $i -lt 40 ]; do head -c 20000000 /dev/zero >f$i || exit 1; i=$((i+1)); done; sleep 3",
		"tmp":      "i=0; while [ $i -lt 40 ]; do head -c 20000000 /dev/zero >$TMPDIR/f$i || exit 1; i=$((i+1)); done; sleep 3",
	} {
		t.Run(name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				b := newBox(t, kind, func(c *sandbox.Config) { c.Limits.DiskMB = 64 })
				out := b.sh(script)
				if out.ExitCode == 0 {
					t.Errorf("it succeeded: %+v", out)
				}
				var size int64
				files, _ := filepath.Glob(filepath.Join(b.workspace, "*"))
				for _, f := range files {
					if info, err := os.Stat(f); err == nil {
						size += info.Size()
					}
				}
				if size > 600<<20 {
					t.Errorf("%d bytes were written", size)
				}
				t.Logf("exit code %d, broken %q, %d MB written, %.80q", out.ExitCode, out.Broken, size>>20, out.Stderr.String())
			})
		})
	}
}

func TestSandboxBoundsTheProcessors(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, func(c *sandbox.Config) { c.Limits.CPUs = 0.5 })
		out := b.python(`
import os,time,resource
begun=time.monotonic()
for i in range(3):
    if os.fork()==0:
        while time.monotonic()-begun<2: pass
        os._exit(0)
for i in range(3): os.wait()
u=resource.getrusage(resource.RUSAGE_CHILDREN)
print((u.ru_utime+u.ru_stime)/(time.monotonic()-begun), len(os.sched_getaffinity(0)))
`)
		var share float64
		var cores int
		if _, err := fmt.Sscan(out.Stdout.String(), &share, &cores); err != nil {
			t.Fatalf("%v: %s", err, out.Stderr.String())
		}
		bound := 0.75
		if strings.Contains(b.Describe(), "limits of processes") {
			bound = 1.2 // whole processors only
			if cores != 1 {
				t.Errorf("it may use %d processors", cores)
			}
		}
		if share > bound {
			t.Errorf("%.2f processors were used", share)
		}
	})
}

func TestSandboxedOutputOf200MegabytesCostsLittle(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out := b.run("head", "-c", "200000000", "/dev/zero")
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 32<<20 {
			t.Errorf("%d bytes were allocated", cost)
		}
		if out.Stdout.Total != 200_000_000 {
			t.Errorf("%d bytes came, %+v", out.Stdout.Total, out.ExitCode)
		}
	})
}

func TestSandboxWipesItsTemporaryFilesAndFollowsNoLinks(t *testing.T) {
	secret := outside(t)
	kinds(t, func(t *testing.T, kind string) {
		t.Setenv("TMPDIR", t.TempDir())
		b := newBox(t, kind, nil)
		b.sh("ln -s " + filepath.Dir(secret) + " $TMPDIR/link; mkdir $TMPDIR/locked; touch $TMPDIR/locked/x; chmod 0 $TMPDIR/locked; touch $TMPDIR/file")
		if left, err := filepath.Glob(filepath.Join(os.TempDir(), "klawbot-run-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if _, err := os.Stat(secret); err != nil {
			t.Error(err)
		}
	})
}

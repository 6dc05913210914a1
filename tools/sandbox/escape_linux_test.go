package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"klawbot/internal/needs"
	"klawbot/tools/sandbox"
)

// outside is a file that no command may see.
func outside(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("canary-of-the-host"), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSandboxHidesTheFilesOfTheHost(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b, secret := newBox(t, kind, nil), outside(t)
		for name, script := range map[string]string{
			"read":         "cat " + secret,
			"through link": "ln -s " + secret + " link; cat link",
			"linked dir":   "ln -s " + filepath.Dir(secret) + " dir; cat dir/secret",
			"dots":         "cat ../../../../../../../../.." + secret,
			"proc root":    "cat /proc/self/root" + secret + " /proc/1/root" + secret + " /proc/$PPID/root" + secret,
			"proc cwd":     "cat /proc/$PPID/cwd/../" + strings.TrimPrefix(secret, "/"),
			"hard link":    "ln " + secret + " hard && cat hard",
			"descriptors":  "for f in /proc/$PPID/fd/* /proc/self/fd/3 /proc/self/fd/7; do timeout 0.2 cat $f; done </dev/null",
			"exec":         "/lib64/ld-linux-x86-64.so.2 " + secret + "; . " + secret,
		} {
			out := b.sh(script + " </dev/null")
			if text := out.Stdout.String() + out.Stderr.String(); strings.Contains(text, "canary-of-the-host") {
				t.Errorf("%s: %s", name, text)
			}
		}
		for _, file := range []string{"/etc/shadow", "/root/.bashrc", "/proc/1/environ", os.Args[0]} {
			if out := b.sh("test -s " + file + " && head -c 10 " + file + " && echo seen"); strings.Contains(out.Stdout.String(), "seen") && kind != sandbox.TypeDocker {
				t.Errorf("%s is seen: %q", file, out.Stdout.String())
			}
		}
	})
}

func TestSandboxHidesTheEnvironmentOfTheBot(t *testing.T) {
	t.Setenv("KLAWBOT_CANARY", "canary-of-the-bot")
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		out := b.sh("env; cat /proc/*/environ /proc/*/task/*/environ /proc/*/cmdline 2>/dev/null; strings /proc/*/mem 2>/dev/null | head -c 100; true")
		if strings.Contains(out.Stdout.String(), "canary-of-the-bot") {
			t.Errorf("the environment is seen: %s", out.Stdout.String())
		}
		for line := range strings.Lines(b.sh("env").Stdout.String()) {
			switch name, _, _ := strings.Cut(line, "="); name {
			case "PATH", "HOME", "TMPDIR", "LANG", "TERM", "TZ", "WORKSPACE", "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME":
			default:
				t.Errorf("a command sees %q", line)
			}
		}
	})
}

func TestSandboxChangesNothingOutside(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b, secret := newBox(t, kind, nil), outside(t)
		before, err := os.Stat(secret)
		if err != nil {
			t.Fatal(err)
		}
		// ctypes makes the system calls that the tools would not.
		for name, code := range map[string]string{
			"write":    "open(%q,'w').write('x')",
			"append":   "open(%q,'a').write('x')",
			"truncate": "os.truncate(%q,0)",
			"remove":   "os.remove(%q)",
			"rename":   "os.rename(%q,'here')",
			"over":     "open('f','w').write('x'); os.rename('f',%q)",
			"mode":     "os.chmod(%q,0)",
			"fd mode":  "os.fchmod(os.open(%q,os.O_PATH),0)",
			"owner":    "os.chown(%q,1,1)",
			"attr":     "os.setxattr(%q,'user.x',b'x')",
			"link":     "os.symlink(os.path.dirname(%q),'l'); open('l/new','w').write('x')",
			"dir":      "os.mkdir(os.path.dirname(%q)+'/new')",
		} {
			out := b.python("import os\n" + fmt.Sprintf(code, secret))
			if out.ExitCode == 0 {
				t.Errorf("%s: it succeeded", name)
			}
		}
		after, err := os.Stat(secret)
		if err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() {
			t.Errorf("%v became %v, %v", before, after, err)
		}
		if all, err := os.ReadDir(filepath.Dir(secret)); err != nil || len(all) != 1 {
			t.Errorf("%v, %v", all, err)
		}
		for _, dir := range []string{"/", "/usr", "/etc", "/tmp/..", "/dev", "/var/tmp"} {
			if dir == "/dev" && kind == sandbox.TypeDocker {
				continue // it is the container's own, and goes with it
			}
			if out := b.sh("echo x >" + dir + "/klawbot-was-here && echo written"); strings.Contains(out.Stdout.String(), "written") {
				t.Errorf("%s can be written", dir)
			}
		}
	})
}

func TestSandboxHasNoNetwork(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	abstract, err := net.Listen("unix", "@klawbot-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	datagram := filepath.Join(t.TempDir(), "datagram")
	packets, err := net.ListenPacket("unixgram", datagram)
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	port := tcp.Addr().(*net.TCPAddr).Port
	attempts := map[string]string{
		"tcp":      fmt.Sprintf("s=socket.create_connection(('127.0.0.1',%d),2); s.send(b'x')", port),
		"tcp name": fmt.Sprintf("s=socket.create_connection(('localhost',%d),2)", port),
		"udp":      "s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.connect(('1.1.1.1',53)); s.send(b'x')",
		"abstract": fmt.Sprintf("s=socket.socket(socket.AF_UNIX); s.connect('\\0%s')", strings.TrimPrefix(abstract.Addr().String(), "@")),
		"unix":     fmt.Sprintf("s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.connect(%q)", datagram),
		"pair":     fmt.Sprintf("a,b=socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM); a.sendto(b'x',%q)", datagram),
		"raw":      "socket.socket(socket.AF_INET,socket.SOCK_RAW,1).sendto(b'x'*8,('1.1.1.1',0))",
		"resolve":  "socket.getaddrinfo('example.com',80)",
	}
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		for name, code := range attempts {
			if out := b.python("import socket\n" + code); out.ExitCode == 0 {
				t.Errorf("%s: it was reached", name)
			}
		}
	})
	t.Run("allowed", func(t *testing.T) {
		for _, kind := range tested {
			if kind == sandbox.TypeDocker {
				continue // its network is the daemon's
			}
			b := newBox(t, kind, func(c *sandbox.Config) { c.Network = true })
			if out := b.python("import socket\nopen('/etc/hosts').read()\n" + attempts["tcp"]); out.ExitCode != 0 {
				t.Errorf("%s: with network: %s", kind, out.Stderr.String())
			}
		}
	})
}

// bypasses is a C program that goes around a filter of system calls: it prints
// the name of each way that was open.
const bypasses = `
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdlib.h>

static void open_way(const char *name) { puts(name); fflush(stdout); }

int main(int argc, char **argv) {
	int pid = atoi(argv[1]);
	struct io_uring_params p;
	memset(&p, 0, sizeof p);
	if (syscall(SYS_io_uring_setup, 4, &p) >= 0) open_way("io_uring");
	if (syscall(SYS_memfd_create, "x", 0) >= 0) open_way("memfd");
	if (unshare(CLONE_NEWUSER) == 0) open_way("unshare");
	if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) == 0) _exit(0);
	if (errno != EPERM) open_way("clone");
	errno = 0;
	if (mount("none", "/tmp", "tmpfs", 0, "") == 0) open_way("mount");
	if (kill(pid, 0) == 0) open_way("kill");
	if (kill(pid, SIGTERM) == 0) open_way("kill");
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) == 0) open_way("ptrace");
	char c; struct iovec to = {&c, 1}, from = {main, 1};
	if (process_vm_readv(pid, &to, 1, &from, 1, 0) >= 0) open_way("process_vm_readv");
	struct rlimit none = {0, 0};
	if (prlimit(pid, RLIMIT_NOFILE, &none, 0) == 0) open_way("prlimit");
	if (setpriority(PRIO_PROCESS, pid, 19) == 0) open_way("setpriority");
	if (shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600) >= 0) open_way("shmget");
	cpu_set_t all; memset(&all, 255, sizeof all);
	if (sched_setaffinity(0, sizeof all, &all) == 0) open_way("affinity");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) open_way("new privileges");
#ifdef __x86_64__
	int child = fork();
	if (child == 0) { // the calls of 32-bit programs: unshare(CLONE_NEWUSER)
		long result;
		__asm__ volatile("int $0x80" : "=a"(result) : "a"(310L), "b"(0x10000000L) : "memory");
		_exit(result == 0 ? 42 : 0);
	}
	int status;
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 42) open_way("int 0x80");
#endif
	return 0;
}
`

func TestSandboxRefusesDangerousSystemCalls(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bypasses")
	source := program + ".c"
	if err := os.WriteFile(source, []byte(bypasses), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-w", "-static", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	victim := exec.Command("sleep", "1000")
	victim.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	// Unconfined, the program finds ways: it does look.
	direct, err := exec.Command(program, strconv.Itoa(victim.Process.Pid)).Output()
	if err != nil || !strings.Contains(string(direct), "memfd") {
		t.Fatalf("%v: %s", err, direct)
	}
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		if err := os.WriteFile(filepath.Join(b.workspace, "bypasses"), text, 0o755); err != nil {
			t.Fatal(err)
		}
		out := b.sh("./bypasses " + strconv.Itoa(victim.Process.Pid))
		ways := strings.Fields(out.Stdout.String())
		if kind == sandbox.TypeDocker { // cgroups hold memory and cores there, and the network is none
			ways = strings.Fields(strings.NewReplacer("io_uring", "", "memfd", "", "shmget", "", "affinity", "", "setpriority", "").Replace(out.Stdout.String()))
		}
		if len(ways) > 0 || out.ExitCode != 0 {
			t.Errorf("open: %q, outcome %+v, %s", ways, out.ExitCode, out.Stderr.String())
		}
	})
}

func TestSandboxKeepsItsGuardFromTheCommand(t *testing.T) {
	b, m := newBox(t, sandbox.TypeLandlock, nil), marker()
	out := b.python(`
import ctypes,os,subprocess
guard=os.getppid()
subprocess.Popen(['/usr/bin/setsid','/bin/sleep','` + m + `'],env={},stdin=-3,stdout=-3,stderr=-3)
tgkill=lambda tid: ctypes.CDLL(None).syscall(234,guard,tid,9)
print(sum(tgkill(tid)==0 for tid in range(guard,guard+200)))
try: os.kill(guard,9); print('killed')
except PermissionError: print('kept')
`)
	if text := out.Stdout.String(); text != "0\nkept\n" || out.ExitCode != 0 {
		t.Errorf("outcome %+v, %q, %s", out.ExitCode, text, out.Stderr.String())
	}
	if n := running(m); n > 0 {
		t.Errorf("%d processes run on", n)
	}
}

func TestSandboxGivesRootNoRights(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		out := b.python("import ctypes\nhead=(ctypes.c_uint32*2)(0x20080522,0)\nsets=(ctypes.c_uint32*6)()\n" +
			"assert ctypes.CDLL(None).capget(head,sets)==0\nprint(*sets)") // effective, permitted, inheritable, twice
		if got := strings.TrimSpace(out.Stdout.String()); got != "0 0 0 0 0 0" {
			t.Errorf("capabilities: %q, %s", got, out.Stderr.String())
		}
	})
}

func TestSandboxShowsMounts(t *testing.T) {
	skills, extra, held := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{skills, extra, held} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(filepath.Base(dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, func(c *sandbox.Config) {
			c.Skills, c.Mounts = skills, []sandbox.Bind{{Host: extra, Inside: "/extra"}}
		})
		out := held
		bind := sandbox.Bind{Host: out, Inside: "/output", Writable: true}
		extraInside := b.Place(sandbox.Bind{Host: extra, Inside: "/extra"})
		script := fmt.Sprintf("cat $SKILLS/file %s/file; echo x >%s/new; echo x >$SKILLS/new; echo x >%s/new; echo done", extraInside, b.Place(bind), extraInside)
		o := mustRun(t, b, sandbox.Command{Argv: []string{"sh", "-c", script}, Dir: b.workspace, Binds: []sandbox.Bind{bind}})
		if want := filepath.Base(skills) + filepath.Base(extra) + "done\n"; o.Stdout.String() != want {
			t.Errorf("output %q, %s", o.Stdout.String(), o.Stderr.String())
		}
		if _, err := os.Stat(filepath.Join(held, "new")); err != nil {
			t.Error(err)
		}
		for _, dir := range []string{skills, extra} {
			if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
				t.Errorf("%s was written", dir)
			}
		}
	})
}

func TestSandboxRefusesUnsafeMounts(t *testing.T) {
	workspace := t.TempDir()
	socket := filepath.Join(t.TempDir(), "s")
	if err := os.Symlink("/var/run/docker.sock", socket); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]sandbox.Config{
		"socket":          {Mounts: []sandbox.Bind{{Host: "/var/run/docker.sock", Inside: "/s"}}},
		"run":             {Mounts: []sandbox.Bind{{Host: "/run", Inside: "/r"}}},
		"root":            {Mounts: []sandbox.Bind{{Host: "/", Inside: "/host"}}},
		"data":            {Data: "/home/bot/data", Mounts: []sandbox.Bind{{Host: "/home/bot", Inside: "/bot"}}},
		"settings":        {Configuration: "/home/bot/config.yaml", Mounts: []sandbox.Bind{{Host: "/home/bot", Inside: "/bot"}}},
		"settings inside": {Configuration: filepath.Join(workspace, "config.yaml")},
		"data inside":     {Data: filepath.Join(workspace, "data")},
		"relative":        {Mounts: []sandbox.Bind{{Host: "x", Inside: "/x"}}},
		"over":            {Mounts: []sandbox.Bind{{Host: "/opt", Inside: "/workspace"}}},
		"option":          {Mounts: []sandbox.Bind{{Host: "/opt,readonly", Inside: "/x"}}},
		"type":            {Type: "chroot"},
	} {
		if c.Type == "" {
			c.Type = sandbox.TypeLandlock
		}
		c.Workspace = workspace
		if _, err := sandbox.New(c); err == nil {
			t.Errorf("%s: there is a sandbox", name)
		}
	}
	needs.Sandbox(t, sandbox.TypeLandlock)
	s, err := sandbox.New(sandbox.Config{Type: sandbox.TypeLandlock, Workspace: workspace})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), sandbox.Command{Argv: []string{"true"}, Dir: "/"}); err == nil {
		t.Error("a command runs outside the workspace")
	}
}

func TestSandboxReportsMissingParts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for kind, want := range map[string]string{
		sandbox.TypeNsjail: "nsjail not found; use bwrap or landlock",
		sandbox.TypeBwrap:  "bwrap not found; install bubblewrap, or use docker or landlock",
		sandbox.TypeDocker: "docker not found; install docker, or use bwrap or landlock",
	} {
		if _, err := sandbox.New(sandbox.Config{Type: kind, Workspace: "/w", Image: "i"}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestSandboxTalksWithAProcess(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		p, err := b.Start(t.Context(), sandbox.Command{Argv: []string{"cat"}, Dir: b.workspace, Piped: true})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p.Stdin, "hello")
		p.Stdin.Close()
		if text, err := io.ReadAll(p.Stdout); string(text) != "hello" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if out := p.Outcome(); out.ExitCode != 0 {
			t.Errorf("outcome %+v %s", out, out.Stderr.String())
		}
	})
}

func TestSandboxRunsAPipeline(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		out := mustRun(t, b, sandbox.Command{Argv: []string{"printf", `b\na\nb\n`}, Pipe: [][]string{{"sort", "-u"}, {"wc", "-l"}}, Dir: b.workspace})
		if strings.TrimSpace(out.Stdout.String()) != "2" {
			t.Errorf("outcome %+v %s", out, out.Stderr.String())
		}
	})
}

// TestSandboxKeepsReadOnlyFiles: by a mount where there are mounts, else by
// putting back what was there.
func TestSandboxKeepsReadOnlyFiles(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		file := filepath.Join(b.workspace, "kept.md")
		if err := os.WriteFile(file, []byte("as it was"), 0o644); err != nil {
			t.Fatal(err)
		}
		out := mustRun(t, b, sandbox.Command{
			Argv: []string{"sh", "-c", "cat kept.md; echo new >x; mv x kept.md; echo new >kept.md; echo new >absent.md"}, Dir: b.workspace,
			ReadOnly: []string{"kept.md", "absent.md"},
		})
		text, err := os.ReadFile(file)
		if string(text) != "as it was" || !strings.HasPrefix(out.Stdout.String(), "as it was") {
			t.Errorf("it holds %q, %v, and %q was read", text, err, out.Stdout.String())
		}
		if _, err := os.Stat(filepath.Join(b.workspace, "absent.md")); !os.IsNotExist(err) {
			t.Errorf("another was made: %v", err)
		}
		if len(out.PutBack) == 0 || out.PutBack[len(out.PutBack)-1] != "absent.md" {
			t.Errorf("the outcome names %q", out.PutBack)
		}
	})
}

// TestSandboxKeepsReadOnlyFolders: what is in them, what is not yet, and links.
func TestSandboxKeepsReadOnlyFolders(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		b := newBox(t, kind, nil)
		inside := func(name string) string { return filepath.Join(b.workspace, name) }
		for name, text := range map[string]string{"skills/tea/SKILL.md": "as it was", "notes/style.md": "as it was", "style.md": "as it was"} {
			if err := os.MkdirAll(filepath.Dir(inside(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(inside(name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, target := range map[string]string{"SOUL.md": "style.md", "TOOLS.md": "notes/style.md"} {
			if err := os.Symlink(target, inside(name)); err != nil {
				t.Fatal(err)
			}
		}
		mustRun(t, b, sandbox.Command{
			Argv: []string{"sh", "-c", "cat skills/tea/SKILL.md; echo new >skills/tea/SKILL.md; mkdir skills/soup && echo new >skills/soup/SKILL.md; mv skills away; mkdir skills; " +
				"echo new >style.md; rm SOUL.md; echo new >SOUL.md; mv notes elsewhere; mkdir notes; echo new >notes/style.md; echo new >other.md"}, Dir: b.workspace,
			ReadOnly: []string{"skills", "SOUL.md", "TOOLS.md", "style.md", "notes/style.md"},
		})
		for _, name := range []string{"skills/tea/SKILL.md", "SOUL.md", "TOOLS.md", "style.md"} {
			if text, err := os.ReadFile(inside(name)); string(text) != "as it was" {
				t.Errorf("%s holds %q, %v", name, text, err)
			}
		}
		if _, err := os.Stat(inside("skills/soup")); !os.IsNotExist(err) {
			t.Errorf("a skill was made: %v", err)
		}
		if text, err := os.ReadFile(inside("other.md")); string(text) != "new\n" {
			t.Errorf("another file holds %q, %v", text, err)
		}
	})
}

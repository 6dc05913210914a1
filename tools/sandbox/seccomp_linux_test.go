package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// TestNsjailGetsTheFilterOfBwrap reads the policy as nsjail does: which calls
// fail with which number. nsjail itself is not in Debian.
func TestNsjailGetsTheFilterOfBwrap(t *testing.T) {
	c, err := nsjail{program: "/opt/nsjail"}.stage(&request{env: []string{"TERM=dumb"}, dir: insideWorkspace}, []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(c.Args, "--seccomp_string")
	if at < 0 || slices.Index(c.Args, "--") < at {
		t.Fatalf("nsjail gets no policy: %q", c.Args)
	}
	policy := c.Args[at+1]
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		errno unix.Errno
		names []string
	}{{unix.ENOSYS, absent}, {unix.EPERM, forbidden}} {
		block := regexp.MustCompile(fmt.Sprintf(`ERRNO\(%d\) \{ ([^{}]*)`, int(tt.errno))).FindStringSubmatch(policy)
		if block == nil {
			t.Fatalf("no call fails with %v: %s", tt.errno, policy)
		}
		for _, name := range tt.names {
			number, there := info.SyscallNames[name]
			if there && !slices.Contains(strings.Split(strings.TrimSpace(block[1]), ", "), "SYSCALL["+strconv.Itoa(number)+"]") {
				t.Errorf("%s does not fail with %v: %s", name, tt.errno, block[1])
			}
		}
	}
	clone := fmt.Sprintf("SYSCALL[%d](flags) { (flags & %#x) != 0 }", info.SyscallNames["clone"], newNamespaces)
	if !strings.Contains(policy, clone) || !strings.HasSuffix(policy, " DEFAULT ALLOW") {
		t.Errorf("clone may make namespaces: %s", policy)
	}
}

// TestNsjailShowsWhatIsMountedAlone: what is not named is not there.
func TestNsjailShowsWhatIsMountedAlone(t *testing.T) {
	args := nsjailArgs(&request{dir: insideWorkspace, env: []string{"TERM=dumb"}, binds: []Bind{{Host: "/ws", Inside: insideWorkspace, Writable: true}, {Host: "/skills", Inside: "/skills"}}})
	text := " " + strings.Join(args, " ") + " "
	for _, want := range []string{" --bindmount /ws:" + insideWorkspace + " ", " --bindmount_ro /skills:/skills ", " --env TERM=dumb ", " --bindmount_ro /usr "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks%s", args, want)
		}
	}
	for i, a := range args {
		if !strings.HasPrefix(a, "--bindmount") {
			continue
		}
		if shown := args[i+1]; shown == "/" || shown == "/etc" || shown == "/proc" || shown == "/home" {
			t.Errorf("it shows %s", shown)
		}
		if a == "--bindmount" && args[i+1] != "/ws:"+insideWorkspace && !strings.HasPrefix(args[i+1], "/dev/") {
			t.Errorf("%s can be written", args[i+1])
		}
	}
	if slices.Contains(args, "--disable_clone_newnet") || slices.Contains(args, "--keep_env") {
		t.Errorf("network or environment are the bot's: %q", args)
	}
}

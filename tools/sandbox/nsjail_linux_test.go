package sandbox

import (
	"slices"
	"strings"
	"testing"

	"klawbot/tools/sandbox/seccomp"
)

// TestNsjailGetsTheFilterOfBwrap; nsjail itself is not in Debian. What the policy says
// is tested in package seccomp.
func TestNsjailGetsTheFilterOfBwrap(t *testing.T) {
	c, err := nsjail{program: "/opt/nsjail"}.stage(&request{env: []string{"TERM=dumb"}, dir: insideWorkspace}, []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(c.Args, "--seccomp_string")
	if at < 0 || slices.Index(c.Args, "--") < at {
		t.Fatalf("nsjail gets no policy: %q", c.Args)
	}
	if policy, err := seccomp.Kafel(); err != nil || c.Args[at+1] != policy {
		t.Errorf("the policy of nsjail is %q, %v", c.Args[at+1], err)
	}
}

// TestNsjailShowsOnlyMounts: what is not named is not there.
func TestNsjailShowsOnlyMounts(t *testing.T) {
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

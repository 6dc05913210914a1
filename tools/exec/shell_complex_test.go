package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/tools"
	"klawbot/tools/exec"
)

// TestCommandsTooComplexToCheck: their effect is unknown, so they need
// approval, for this call alone, in each mode that runs anything.
func TestCommandsTooComplexToCheck(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("eval ", 700) + "ls",
		strings.Repeat("find . -exec find ", 200) + "-exec ls",
		`echo "echo ls` + strings.Repeat("|sh", 600) + `"` + strings.Repeat("|sh", 600),
		strings.Repeat(`"$(`, 600) + "ls" + strings.Repeat(`)"`, 600),
	} {
		b := newBench(t).allow("*")
		for _, c := range []struct {
			mode     exec.Mode
			autonomy tools.Autonomy
			want     tools.Verdict
			reason   string
		}{
			{exec.ModeFull, tools.Full, tools.Ask, "The command is too complex to check"},
			{exec.ModeFull, tools.Supervised, tools.Ask, "The command is too complex to check"},
			{exec.ModeAllowlist, tools.Supervised, tools.Ask, "The command is too complex to check"},
			{exec.ModeAllowlist, tools.Full, tools.Deny, "(it is too complex to check)"},
			{exec.ModeFull, tools.ReadOnly, tools.Deny, "Read-only mode"},
			{exec.ModeDeny, tools.Supervised, tools.Deny, "All exec calls are blocked"},
		} {
			b.settings.Mode, b.policy.Autonomy = c.mode, c.autonomy
			begun := time.Now()
			d := b.check(text)
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("%.20s: it took %s", text, took)
			}
			if d.Verdict != c.want || !strings.Contains(d.Reason, c.reason) || (d.OnceOnly != "") != (c.want == tools.Ask) {
				t.Errorf("%.20s, mode %s, autonomy %s: %+v", text, c.mode, c.autonomy, d)
			}
		}
	}
	b, agrees := newBench(t), &yes{}
	b.approver = agrees
	if r := b.sh(strings.Repeat("eval ", 700) + "echo ran"); !r.Success || body(r) != "ran" {
		t.Errorf("with a person's word: %+v", r)
	}
	if len(agrees.asked) != 1 || agrees.asked[0].OnceOnly == "" {
		t.Errorf("asked: %+v", agrees.asked)
	}
}

// TestTooMuchToReadNeedsApproval: folders that are named many times are not
// walked as often, and scripts not read to the end of all.
func TestTooMuchToReadNeedsApproval(t *testing.T) {
	b := newBench(t)
	for i := range 1000 {
		b.file(fmt.Sprintf("d/%d.txt", i), "x")
	}
	if d := b.check("grep -r x d d d"); d.Verdict != tools.Allow {
		t.Errorf("three times: %+v", d)
	}
	if d := b.check("grep -r x" + strings.Repeat(" d", 100)); d.Verdict != tools.Ask || !strings.Contains(d.Reason, "too many files below d") {
		t.Errorf("a hundred times: %+v", d)
	}
	line := "sh"
	for i := range 200 {
		name := fmt.Sprintf("s%d", i)
		b.file(name, "")
		if err := os.Truncate(filepath.Join(b.ws, name), 16<<20); err != nil {
			t.Fatal(err)
		}
		line += " " + name
	}
	begun := time.Now()
	before := b.check(line)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("200 scripts of 16 MB took %s", took)
	}
	if err := os.Truncate(filepath.Join(b.ws, "s150"), 1<<20); err != nil {
		t.Fatal(err)
	}
	if after := b.check(line); before.Verdict != tools.Ask || before.Binds == "" || before.Binds == after.Binds {
		t.Errorf("one of them has changed: %+v, %+v", before, after)
	}
}

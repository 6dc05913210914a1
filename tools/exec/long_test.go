//go:build long

package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

func TestLongCommandsWithoutApprovalOnlyRead(t *testing.T) { onlyRead(t, 3000) }

// TestLongConfinedSort: sort writes temporary files when there is much.
func TestLongConfinedSort(t *testing.T) {
	bothWays(t, func(t *testing.T, b *bench) {
		var text strings.Builder
		line := strings.Repeat("y", 6000) + "\n" // long, so that they are few: 200 MB
		for i := range 32 << 10 {
			text.WriteString(string(rune('a'+i%26)) + line)
		}
		b.file("great", text.String())
		if r := b.sh("sort great | uniq -c | wc -l"); body(r) != "26" {
			t.Errorf("%+v", r)
		}
	})
}

// TestLongSortDoesNotFillTheDisk: a sort keeps what it reads in temporary files, and a
// line may name a file many times.
func TestLongSortDoesNotFillTheDisk(t *testing.T) {
	if !sandbox.Confines() {
		t.Fatal("this kernel has no Landlock, which these tests need")
	}
	b := newBench(t)
	b.file("f", strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 24))
	r := b.call("shell", map[string]any{"command": "cat" + strings.Repeat(" f", 100) + " | sort | wc -l", "timeout": 300})
	if r.Success && !strings.Contains(r.Output, "disk") || !strings.Contains(r.Output, "broke a limit of the sandbox: disk") {
		t.Errorf("%+v", r)
	}
}

// TestLongWorkspaceIsTooLargeToWatch: the approval request says so.
func TestLongWorkspaceIsTooLargeToWatch(t *testing.T) {
	b, who := newBench(t), &yes{}
	for i := range 101 {
		for j := range 100 {
			b.file(fmt.Sprintf("many/%d/%d", i, j), "")
		}
	}
	b.approver = who
	b.sh("python3 main.py")
	if len(who.asked) != 1 || who.asked[0].OnceOnly != tools.TooManyFiles {
		t.Errorf("asked %+v", who.asked)
	}
}

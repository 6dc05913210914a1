package needs_test

import (
	"fmt"
	"testing"

	"klawbot/internal/needs"
)

// told notes how a test ended.
type told struct{ skipped, failed string }

func (t *told) Skip(args ...any)  { t.skipped = fmt.Sprint(args...) }
func (t *told) Fatal(args ...any) { t.failed = fmt.Sprint(args...) }

func TestAMissingProgramSkipsAndFailsInCI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CI", "")
	here, ci := &told{}, &told{}
	needs.Program(here, "bubblewrap", "bwrap", "/no/bwrap")
	t.Setenv("CI", "true")
	needs.Program(ci, "bubblewrap", "bwrap", "/no/bwrap")
	if here.failed != "" || here.skipped == "" || ci.failed != here.skipped || ci.skipped != "" {
		t.Errorf("here %+v, in CI %+v", here, ci)
	}
}

func TestAProgramThatIsThereIsNoWord(t *testing.T) {
	x := &told{}
	needs.Program(x, "a shell", "no-such-shell", "sh")
	needs.Program(x, "a shell", "/bin/sh")
	if *x != (told{}) {
		t.Errorf("%+v", x)
	}
}

package command_test

import (
	"strings"
	"testing"
	"time"

	"klawbot/tools/exec/command"
)

// FuzzParse: whatever the text, taking it apart ends, breaks nothing, and gives
// either a plain line or a reason. What is plain has no character in it that the
// text does not have.
func FuzzParse(f *testing.F) {
	for _, c := range corpus(f) {
		if len(c.Command) < 1000 {
			f.Add(c.Command)
		}
	}
	f.Add(strings.Repeat("eval ", 40) + "ls")
	f.Add(strings.Repeat("find -exec ", 20) + "ls")
	f.Add(strings.Repeat(`"$(`, 100) + "ls" + strings.Repeat(`)"`, 100))
	all := patterns(f, "*", "ls *", "git *", "sed *", "python3 *", "tar *", "curl *")
	f.Fuzz(func(t *testing.T, text string) {
		begun := time.Now()
		line, err := command.Parse(text)
		if took := time.Since(begun); took > 30*time.Second {
			t.Fatalf("%q: checked for %s", text, took)
		}
		if err != nil {
			return
		}
		if (line.Plain == nil) == (line.More == "") {
			t.Fatalf("%q: plain %+v, more %q", text, line.Plain, line.More)
		}
		allows(line.Plain, all)
		for _, p := range line.Plain {
			for _, prog := range p.Programs {
				if len(prog.Argv) == 0 || prog.Argv[0] == "" {
					t.Fatalf("%q runs nothing: %+v", text, line.Plain)
				}
				for _, a := range prog.Argv {
					for _, r := range a {
						if !strings.ContainsRune(text, r) {
							t.Fatalf("%q: %q is not in the text", text, r)
						}
					}
				}
			}
		}
	})
}

package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"klawbot/internal/clip"
	"klawbot/tools"
)

// TestOutputOfCommands: a model reads what a terminal shows, the end, all of a short
// standard error, and how the command ended.
func TestOutputOfCommands(t *testing.T) {
	loud := `for i in $(seq 1 900); do echo "compiling module number $i"; done; `
	b := newBench(t).open()
	for name, tt := range map[string]struct {
		command string
		want    []string
		without []string
		code    int
	}{
		"output-end-lost": {loud + `echo 'ERROR: undefined symbol foo' >&2; exit 2`,
			[]string{"compiling module number 1\n", " lines (", ") omitted here ...\n", "number 900\n[stderr]\nERROR: undefined symbol foo\n[exit code 2, "}, nil, 2},
		"output-frames": {`for i in $(seq 1 3000); do printf '\033[2K\rPROGRESS %04d' $i; done; printf '\nMARKER-END\n'`,
			[]string{"PROGRESS 3000\nMARKER-END\n[exit code 0, "}, []string{"\x1b", "2999", "omitted"}, 0},
		"output-nul":                  {`printf 'a\0b\n'; echo END`, []string{"ab\nEND\n[exit code 0, "}, []string{"\x00"}, 0},
		"frames on standard error":    {`echo out; for i in 1 2 3; do printf '\r%d%%' $i >&2; done`, []string{"out\n[stderr]\n3%\n[exit code 0, "}, []string{"1%"}, 0},
		"colours":                     {`printf '\033[31mred\033[0m\n'`, []string{"red\n[exit code 0, "}, []string{"\x1b", "[31m"}, 0},
		"both long":                   {`for i in $(seq 1 3000); do echo "out $i"; echo "err $i" >&2; done; exit 3`, []string{"out 1\n", "out 3000\n[stderr]\nerr 1\n", "err 3000\n[exit code 3, "}, nil, 3},
		"megabytes, then an error":    {`seq 1 400000; echo 'fatal: no space' >&2; exit 4`, []string{"1\n2\n", "400000\n[stderr]\nfatal: no space\n[exit code 4, ", ": 3980", " bytes that were not kept) omitted here"}, nil, 4},
		"megabytes of frames":         {`seq -f 'step %.0f' 1 200000 | tr '\n' '\r'; echo; echo built`, []string{"\nstep 200000\nbuilt\n[exit code 0, "}, []string{"step 199999"}, 0},
		"killed by a signal":          {loud + `echo last >&2; kill -SEGV $$`, []string{"number 900\n[stderr]\nlast\n[exit code 139, killed by SIGSEGV, "}, nil, 139},
		"killed by another signal":    {`kill -TERM $$`, []string{"[exit code 143, killed by SIGTERM, "}, nil, 143},
		"out of memory":               {`echo begun; kill -KILL $$`, []string{"begun\n[exit code 137, killed by SIGKILL, "}, nil, 137},
		"no signal":                   {`exit 200`, []string{"[exit code 200, "}, []string{"killed"}, 200},
		"short output stays as it is": {`printf 'a\tb  \n\n\n  c\n'`, []string{"a\tb  \n\n\n  c\n[exit code 0, "}, nil, 0},
	} {
		r := b.call("shell", map[string]any{"command": tt.command})
		for _, want := range tt.want {
			if !strings.Contains(r.Output, want) {
				t.Errorf("%s: no %q in %s", name, want, ends(r))
			}
		}
		for _, without := range tt.without {
			if strings.Contains(r.Output, without) {
				t.Errorf("%s: %q in %s", name, without, ends(r))
			}
		}
		if r.ExitCode == nil || *r.ExitCode != tt.code || r.Success != (tt.code == 0) {
			t.Errorf("%s: exit code %v, success %v", name, r.ExitCode, r.Success)
		}
	}
}

func ends(r tools.Result) string {
	return fmt.Sprintf("%.300q … %q", r.Output, clip.Tail(r.Output, 300))
}

// TestTimeoutKeepsOutputAndExitCode, and so does a step that cannot start.
func TestTimeoutKeepsOutputAndExitCode(t *testing.T) {
	b := newBench(t).open()
	r := b.call("shell", map[string]any{"command": "seq 1 30000; echo failing >&2; sleep 60", "timeout": 1})
	for _, want := range []string{"Error: the command did not end within 1s", "\n1\n2\n", "\n30000\n[stderr]\nfailing\n[exit code 137, killed by SIGKILL, "} {
		if r.ErrorKind != tools.Timeout || !strings.Contains(r.Output, want) || r.ExitCode == nil {
			t.Errorf("no %q in %s", want, ends(r))
		}
	}
	id := b.spawn("echo begun; sleep 600")
	eventually(t, "the first output", func() bool { return strings.HasPrefix(b.look("output", id).Output, "begun") })
	if r := b.look("kill", id); !r.Success {
		t.Errorf("%+v", r)
	}
	if got := b.ended(id); !strings.HasPrefix(got, "begun\n[killed after ") || !strings.HasSuffix(got, ", exit code 137, killed by SIGKILL]") {
		t.Errorf("got %q", got)
	}
	id = b.spawn("printf '1%%\\r2%%\\r'; kill -ABRT $$")
	if got := b.ended(id); !strings.Contains(got, "2%\n[ended with exit code 134, killed by SIGABRT after ") {
		t.Errorf("got %q", got)
	}
}

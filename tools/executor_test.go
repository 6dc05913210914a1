package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"klawbot/internal/redact"
	"klawbot/tools"
)

// book is a Journal that notes what it is told.
type book struct {
	lines  []string
	refuse string // the step that fails
	ended  bool   // ctx was over when Finished was called
}

var errFull = errors.New("the store is full")

func (b *book) Started(_ context.Context, c tools.Call) error { return b.note("started", c) }

func (b *book) Finished(ctx context.Context, c tools.Call, r tools.Result) error {
	b.ended = ctx.Err() != nil
	return b.note("finished", c)
}

func (b *book) note(step string, c tools.Call) error {
	if b.refuse == step {
		return errFull
	}
	b.lines = append(b.lines, step+" "+c.Name+" "+string(c.Arguments))
	return nil
}

func TestJournalSurroundsTheEffect(t *testing.T) {
	var b book
	ran := fakeTool("act", func(_ context.Context, c tools.Call) tools.Result {
		b.lines = append(b.lines, "ran "+c.Name)
		return tools.OK("done")
	})
	ran.spec.Aliases = []tools.Alias{{Name: "do"}}
	e := executor(t, tools.ExecutorConfig{}, ran)
	r, err := e.Execute(t.Context(), tools.Call{ID: "c7", Name: "do", Arguments: json.RawMessage(` `)}, &b)
	if err != nil || !r.Success || r.CallID != "c7" {
		t.Fatalf("result %+v, error %v", r, err)
	}
	if want := []string{"started act {}", "ran act", "finished act {}"}; !slices.Equal(b.lines, want) {
		t.Errorf("the journal is %q, want %q", b.lines, want)
	}
}

func TestRefusedCallsAreNotJournaled(t *testing.T) {
	e := executor(t, tools.ExecutorConfig{}, order())
	for _, name := range []string{"ordr", "order"} {
		var b book
		r, err := e.Execute(t.Context(), tools.Call{ID: "c", Name: name}, &b)
		if err != nil || r.Success || len(b.lines) > 0 {
			t.Errorf("%s: result %+v, error %v, journal %q", name, r, err, b.lines)
		}
	}
	if r := call(t, e, "ordr", "{}"); r.Error != "unknown tool 'ordr'; did you mean order?" || r.ErrorKind != tools.NotFound {
		t.Errorf("error is %q (%s)", r.Error, r.ErrorKind)
	}
}

func TestJournalFailureStopsTheTurn(t *testing.T) {
	for step, runs := range map[string]int{"started": 0, "finished": 1} {
		ran := 0
		e := executor(t, tools.ExecutorConfig{}, fakeTool("act", func(context.Context, tools.Call) tools.Result { ran++; return tools.OK("") }))
		_, err := e.Execute(t.Context(), tools.Call{ID: "c", Name: "act"}, &book{refuse: step})
		if !errors.Is(err, errFull) || ran != runs {
			t.Errorf("%s fails: error %v, ran %d times", step, err, ran)
		}
	}
}

func TestPanicIsAResult(t *testing.T) {
	var log bytes.Buffer
	e := executor(t, tools.ExecutorConfig{Log: slog.New(slog.NewTextHandler(&log, nil))},
		fakeTool("act", func(context.Context, tools.Call) tools.Result { panic("boom") }))
	r := call(t, e, "act", "{}")
	if r.Success || r.ErrorKind != tools.Execution || strings.Contains(r.Output, "boom") {
		t.Errorf("result is %+v", r)
	}
	if !strings.Contains(log.String(), "boom") {
		t.Errorf("the log does not tell: %s", log.String())
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fakeTool("act", func(ctx context.Context, _ tools.Call) tools.Result {
			<-ctx.Done()
			return tools.Fail(tools.Execution, ctx.Err().Error())
		})
		slow.spec.Timeout = 10 * time.Second
		r := call(t, executor(t, tools.ExecutorConfig{}, slow), "act", "{}")
		if r.ErrorKind != tools.Timeout || r.Error != "act did not finish within 10s" || r.DurationMS != 10_000 {
			t.Errorf("result is %+v", r)
		}
	})
}

func TestCancelled(t *testing.T) {
	cause := errors.New("stopped by the person")
	for name, c := range map[string]struct {
		result tools.Result
		err    error
		lines  int
	}{
		"before it was done leaves it in doubt": {tools.Fail(tools.Execution, "cancelled"), cause, 1},
		"after it was done keeps the result":    {tools.OK("done"), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			var b book
			e := executor(t, tools.ExecutorConfig{}, fakeTool("act", func(context.Context, tools.Call) tools.Result { cancel(cause); return c.result }))
			_, err := e.Execute(ctx, tools.Call{ID: "c", Name: "act"}, &b)
			if !errors.Is(err, c.err) || len(b.lines) != c.lines || b.ended {
				t.Errorf("error %v, journal %q, ended %v", err, b.lines, b.ended)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	var b book
	if _, err := executor(t, tools.ExecutorConfig{}, order()).Execute(ctx, tools.Call{Name: "order", Arguments: json.RawMessage(`{"dish":"x"}`)}, &b); !errors.Is(err, cause) || len(b.lines) > 0 {
		t.Errorf("a call after the end: error %v, journal %q", err, b.lines)
	}
}

func TestOutputIsCutAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	whole := strings.Repeat("ж", 30)
	e := executor(t, tools.ExecutorConfig{MaxOutputChars: func() int { return 25 }, SpillDir: dir},
		fakeTool("act", func(context.Context, tools.Call) tools.Result { return tools.OK(whole) }))
	r, err := e.Execute(t.Context(), tools.Call{ID: "../c:1", Name: "act"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("ж", 13) + "\n... output truncated at 25 chars: 5 characters omitted here ...\n" +
		"(all of it: file_read spill/___c_1.txt with startLine and maxLines; this gap begins at line 1)\n" + strings.Repeat("ж", 12)
	if r.Output != want || !r.Truncated {
		t.Errorf("got %q", r.Output)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "___c_1.txt"))
	if err != nil || string(kept) != whole {
		t.Errorf("kept %q, %v", kept, err)
	}
	info, err := os.Stat(filepath.Join(dir, "___c_1.txt"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestOutputKeepsItsEnds: a model reads the beginning and the end of an output, and of
// standard error as well, and that something is missing in between.
func TestOutputKeepsItsEnds(t *testing.T) {
	lines := func(word string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d\n", word, i+1)
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		output string
		want   []string
		gaps   int
	}{
		"output-end-lost":        {lines("compiling module number", 900) + "[stderr]\nERROR: undefined symbol foo\n[exit code 2, 12ms]", []string{"compiling module number 1\n", "compiling module number 900\n", "\n[stderr]\nERROR: undefined symbol foo\n[exit code 2, 12ms]", "lines ("}, 1},
		"output-nul":             {"a\x00b\nEND", []string{"ab\nEND"}, 0},
		"short":                  {lines("x", 20), []string{lines("x", 20)}, 0},
		"much on both":           {lines("out", 900) + "[stderr]\n" + lines("err", 900) + "[exit code 1, 1s]", []string{"out 1\n", "out 900\n", "\nerr 1\n", "err 900\n[exit code 1, 1s]"}, 2},
		"much on standard error": {"result: 7\n[stderr]\n" + lines("warning", 900) + "[exit code 0, 1s]", []string{"result: 7\n[stderr]\nwarning 1\n", "warning 900\n[exit code 0, 1s]"}, 1},
		"one line":               {"begin" + strings.Repeat("x", 9000) + "end", []string{"begin", "end", "characters omitted"}, 1},
		"long last line":         {lines("row", 300) + strings.Repeat("x", 9000) + "end", []string{"row 1\n", "xend"}, 1},
		"Chinese":                {strings.Repeat("编译模块\n", 900) + "错误：未定义的符号", []string{"编译模块\n", "\n错误：未定义的符号"}, 1},
		"families":               {strings.Repeat("👨‍👩‍👧", 500), []string{"\n👨‍👩‍👧"}, 1},
		"flags":                  {"x" + strings.Repeat("🇩🇪", 900), []string{"🇩🇪\n...", "...\n🇩🇪"}, 1},
		"the mark of another":    {"[stderr]\n" + lines("a", 900) + "[stderr]\nlast", []string{"[stderr]\na 1\n", "a 900\n[stderr]\nlast"}, 1},
	} {
		e := executor(t, tools.ExecutorConfig{MaxOutputChars: func() int { return 1000 }},
			fakeTool("act", func(context.Context, tools.Call) tools.Result { return tools.OK(tt.output) }))
		r := call(t, e, "act", "{}")
		for _, want := range tt.want {
			if !strings.Contains(r.Output, want) {
				t.Errorf("%s: %q is not in %q", name, want, r.Output)
			}
		}
		if got := strings.Count(r.Output, "... output truncated at 1000 chars: "); got != tt.gaps || r.Truncated != (tt.gaps > 0) {
			t.Errorf("%s: %d gaps, truncated %v: %q", name, got, r.Truncated, r.Output)
		}
		if n := utf8.RuneCountInString(r.Output); n > 1250 || tt.gaps > 0 && n < 700 {
			t.Errorf("%s: %d characters", name, n)
		}
		if strings.ContainsAny(r.Output, "\uFFFD\x00") {
			t.Errorf("%s: %q", name, r.Output)
		}
	}
}

func TestOutputThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := executor(t, tools.ExecutorConfig{MaxOutputChars: func() int { return 3 }, SpillDir: filepath.Join(file, "spill")},
		fakeTool("act", func(context.Context, tools.Call) tools.Result { return tools.OK("abcdef") }))
	if r := call(t, e, "act", "{}"); r.Output != "ab\n... output truncated at 3 chars: 3 characters omitted here ...\nf" || !r.Truncated {
		t.Errorf("got %q", r.Output)
	}
}

func TestOldSpillsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	week := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(old, week, week); err != nil {
		t.Fatal(err)
	}
	e := executor(t, tools.ExecutorConfig{MaxOutputChars: func() int { return 3 }, SpillDir: dir},
		fakeTool("act", func(context.Context, tools.Call) tools.Result { return tools.OK("abcdef") }))
	call(t, e, "act", "{}")
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old output is still there: %v", err)
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	var secrets redact.Set
	secrets.Add("hunter2secret", "424242424242")
	dir := t.TempDir()
	e := executor(t, tools.ExecutorConfig{Redact: &secrets, SpillDir: dir, MaxOutputChars: func() int { return 20 }},
		fakeTool("act", func(context.Context, tools.Call) tools.Result {
			return tools.Result{
				Output: "the word is hunter2secret, and so on and on", Error: "hunter2secret",
				Data:     json.RawMessage(`{"n":424242424242}`),
				Outgoing: []tools.Outgoing{{Text: "hunter2secret"}},
			}
		}))
	r := call(t, e, "act", "{}")
	kept, err := os.ReadFile(filepath.Join(dir, "c1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"result": string(all), "outgoing": r.Outgoing[0].Text, "spill": string(kept)} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "4242") {
			t.Errorf("%s holds a secret: %s", where, text)
		}
	}
}

func TestLogHoldsNoArguments(t *testing.T) {
	var log bytes.Buffer
	e := executor(t, tools.ExecutorConfig{Log: slog.New(slog.NewTextHandler(&log, nil))}, order())
	call(t, e, "order", `{"dish":"private soup"}`)
	if strings.Contains(log.String(), "private") || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "tool=order") {
		t.Errorf("the log is %s", log.String())
	}
}

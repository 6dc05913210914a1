package file_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/tools"
)

// pathCase is a line of testdata/paths.jsonl. Paths of the set-up are relative
// to a base folder that holds the workspace "ws" and its neighbours.
type pathCase struct {
	ID          string    `json:"id"`
	Tool        string    `json:"tool"`
	Path        string    `json:"path"`
	Mode        string    `json:"mode"`
	ContentSize int       `json:"content_size"`
	Recursive   bool      `json:"recursive"`
	Pattern     string    `json:"pattern"`
	Setup       []setting `json:"setup"`
	Expect      string    `json:"expect"`
	Why         string    `json:"why"`
	Doubtful    bool      `json:"doubtful"`
	Needs       string    `json:"needs"`

	MustNotOutput  []string `json:"must_not_output"`
	MustNotExist   []string `json:"must_not_exist"`
	Unchanged      []string `json:"unchanged"`
	MaxSeconds     float64  `json:"max_seconds"`
	MaxOutputBytes int      `json:"max_output_bytes"`
	MaxErrorBytes  int      `json:"max_error_bytes"`
}

// setting is one step of a set-up.
type setting struct {
	Op      string `json:"op"`
	Path    string `json:"path"`
	Content string `json:"content"`
	Target  string `json:"target"`
	Byte    string `json:"byte"`
	Size    int64  `json:"size"`
	Major   int    `json:"major"`
	Minor   int    `json:"minor"`
	A       string `json:"a"`
	B       string `json:"b"`
}

func readCases(t *testing.T) []pathCase {
	t.Helper()
	f, err := os.Open("testdata/paths.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []pathCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c pathCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Needs != "root" || os.Geteuid() == 0 {
			all = append(all, c)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPaths(t *testing.T) {
	cases := readCases(t)
	if len(cases) < 80 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Log(c.Why)
			b := newBench(t, nil)
			base := filepath.Dir(b.dir)
			c.prepare(t, base)
			before := c.contents(t, base)
			if c.Expect == "race" {
				c.race(t, b, base)
				return
			}
			begun := time.Now()
			r := c.call(b, base)
			if c.MaxSeconds > 0 && time.Since(begun).Seconds() > c.MaxSeconds {
				t.Errorf("it took %v", time.Since(begun))
			}
			c.check(t, base, r)
			for name, content := range c.contents(t, base) {
				if content != before[name] {
					t.Errorf("%s holds %q now", name, content)
				}
			}
		})
	}
}

func (c pathCase) call(b bench, base string) tools.Result {
	arguments := []any{"path", expand(c.Path, base)}
	switch c.Tool {
	case "file_write":
		content := "written"
		if c.ContentSize > 0 {
			content = strings.Repeat("y", c.ContentSize)
		}
		arguments = append(arguments, "content", content)
		if c.Mode != "" {
			arguments = append(arguments, "mode", c.Mode)
		}
	case "file_list":
		arguments = append(arguments, "recursive", c.Recursive)
	case "edit":
		return b.call("file_edit", append(arguments, "old_str", "ins", "new_str", "INS")...)
	case "search":
		return b.call("file_search", append(arguments, "pattern", c.Pattern, "type", "grep")...)
	}
	return b.call(c.Tool, arguments...)
}

// race makes the call again and again while the last step of the set-up runs.
func (c pathCase) race(t *testing.T, b bench, base string) {
	t.Helper()
	s := c.Setup[len(c.Setup)-1]
	put(t, filepath.Join(base, "ws/regular"), "inside")
	swap(t, filepath.Join(base, s.Path), s.A, s.B, func() {
		for range tries(t, 600) {
			r := c.call(b, base)
			for _, bad := range append(c.MustNotOutput, "SECRET") {
				if strings.Contains(r.Output, bad) {
					t.Fatalf("the output is %q", r.Output)
				}
			}
		}
	})
	for _, name := range c.MustNotExist {
		if _, err := os.Lstat(filepath.Join(base, name)); !os.IsNotExist(err) {
			t.Errorf("%s exists: %v", name, err)
		}
	}
}

func (c pathCase) check(t *testing.T, base string, r tools.Result) {
	t.Helper()
	if want := c.Expect == "allow"; c.Expect != "either" && r.Success != want {
		t.Errorf("success is %v, want %s: %s", r.Success, c.Expect, r.Output)
	}
	for _, bad := range append(c.MustNotOutput, "SECRET", "EVIL") {
		if strings.Contains(r.Output, bad) && !c.Doubtful {
			t.Errorf("the output holds %q", bad)
		}
	}
	for _, name := range c.MustNotExist {
		if _, err := os.Lstat(filepath.Join(base, name)); !os.IsNotExist(err) {
			t.Errorf("%s exists: %v", name, err)
		}
	}
	if c.MaxOutputBytes > 0 && len(r.Output) > c.MaxOutputBytes {
		t.Errorf("the output has %d bytes", len(r.Output))
	}
	if most := max(c.MaxErrorBytes, 1000); !r.Success && len(r.Error) > most {
		t.Errorf("the error has %d bytes", len(r.Error))
	}
}

// contents reads the files that must not change.
func (c pathCase) contents(t *testing.T, base string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range c.Unchanged {
		content, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(content)
	}
	return all
}

func (c pathCase) prepare(t *testing.T, base string) {
	t.Helper()
	for _, dir := range []string{"out", "ws-evil"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range c.Setup {
		if err := s.apply(base); err != nil {
			t.Fatalf("%s %s: %v", s.Op, s.Path, err)
		}
	}
}

func (s setting) apply(base string) error {
	name := filepath.Join(base, expand(s.Path, base))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch s.Op {
	case "file":
		return os.WriteFile(name, []byte(s.Content), 0o644)
	case "dir":
		return os.MkdirAll(name, 0o755)
	case "symlink":
		return os.Symlink(expand(s.Target, base), name)
	case "hardlink":
		return os.Link(filepath.Join(base, s.Target), name)
	case "swap", "swapfile": // runs beside the call
		return nil
	case "fifo":
		return syscall.Mkfifo(name, 0o644)
	case "mknod":
		return syscall.Mknod(name, syscall.S_IFCHR|0o644, s.Major<<8|s.Minor)
	case "fill":
		return os.WriteFile(name, []byte(strings.Repeat(s.Byte, int(s.Size))), 0o644)
	case "sparse":
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			return err
		}
		return os.Truncate(name, s.Size)
	}
	return os.ErrInvalid
}

func expand(text, base string) string {
	return strings.NewReplacer("{WS}", filepath.Join(base, "ws"), "{OUT}", filepath.Join(base, "out"), "{BASE}", base).Replace(text)
}

// Command mutants asks whether the tests notice when a guard is gone. It takes
// the guards of its list away, one at a time, in a copy of the tree, and wants
// a test to fail each time. The tree itself is not touched.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	count := flag.Int("count", len(mutants), "how many of the list, from its beginning")
	only := flag.String("only", "", "only those whose file or test has this `text` in its name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *count, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries the first mutants of the list, of those that only names, in a copy of
// the tree that the program was started in.
func run(ctx context.Context, out io.Writer, count int, only string) (err error) {
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool {
		return !strings.Contains(m.file, only) && !strings.Contains(m.run, only)
	})
	if len(chosen) == 0 {
		return fmt.Errorf("no guard of the list has %q in its file or its test", only)
	}
	dir, err := os.MkdirTemp("", "klawbot-mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := copyTree(ctx, dir); err != nil {
		return err
	}
	survived := 0
	for _, m := range chosen[:min(count, len(chosen))] {
		noticed, err := m.try(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", m.file, m.old, err)
		}
		verdict := "noticed "
		if !noticed {
			verdict = "SURVIVED"
			survived++
		}
		line, _, _ := strings.Cut(strings.TrimSpace(m.old), "\n")
		fmt.Fprintf(out, "%s  %s: %s  (%s)\n", verdict, m.file, line, m.run)
	}
	if survived > 0 {
		return fmt.Errorf("%d guards can go and no test notices", survived)
	}
	return nil
}

// copyTree copies the files that git knows or would add.
func copyTree(ctx context.Context, to string) error {
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("list the tree: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not committed yet
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// try takes the guard away in the copy, runs the tests, and puts it back. That
// the tests pass with the guard is tried by make test.
func (m mutant) try(ctx context.Context, dir string) (noticed bool, err error) {
	name := filepath.Join(dir, m.file)
	content, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	if n := bytes.Count(content, []byte(m.old)); n != 1 {
		return false, fmt.Errorf("it stands %d times in the file", n)
	}
	if err := os.WriteFile(name, bytes.Replace(content, []byte(m.old), []byte(m.new), 1), 0o644); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.WriteFile(name, content, 0o644)) }()
	tested, run, elsewhere := strings.Cut(m.run, ": ")
	if !elsewhere {
		tested, run = filepath.Dir(m.file), m.run
	}
	test := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-run", "^("+run+")$", "./"+tested)
	test.Dir = dir
	output, err := test.CombinedOutput()
	switch {
	case bytes.Contains(output, []byte("--- FAIL")), bytes.Contains(output, []byte("panic: ")):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("the tests did not run: %w\n%s", err, output)
	case bytes.Contains(output, []byte("no tests to run")):
		return false, fmt.Errorf("there is no test %s", m.run)
	}
	return false, nil
}

package exec_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/tools"
)

// treeOf is what a folder holds: names, kinds, contents.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s", name, d.Type())
		if d.Type().IsRegular() {
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(content))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// randomHarmless is one of the harmless commands with random options and
// operands, good ones and bad ones.
func randomHarmless(r *rand.Rand, operands []string) string {
	names := strings.Fields("ls cat head tail wc grep find echo pwd date stat file sort uniq cut tr diff which uname df du ps")
	longs := strings.Fields(`--help --version --output=x --files0-from=a.txt --follow --recursive --dereference --file=a.txt --color --reference=a.txt
		--set=now --compress-program=sh --temporary-directory=. --exclude-from=a.txt --from-file=a.txt --max-depth=1 --format=%n --all --retry`)
	finds := strings.Fields("-name -type -exec -delete -fprint -newer -maxdepth -print -ls -follow -L -o -not -files0-from -printf f 1 x ; {} +")
	words := []string{names[r.IntN(len(names))]}
	letter := func() string {
		return string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[r.IntN(62)])
	}
	for range r.IntN(5) {
		switch k := r.IntN(8); {
		case words[0] == "find" && k < 4:
			words = append(words, "'"+finds[r.IntN(len(finds))]+"'")
		case k < 2:
			words = append(words, "-"+letter())
		case k == 2:
			words = append(words, "-"+letter()+letter()+letter())
		case k == 3:
			words = append(words, longs[r.IntN(len(longs))])
		default:
			words = append(words, "'"+operands[r.IntN(len(operands))]+"'")
		}
	}
	return strings.Join(words, " ")
}

// TestCommandsWithoutApprovalOnlyRead runs random forms of the harmless commands, those
// that nobody is asked about: none writes, shows what lies outside, or waits.
// HARMLESS says how many forms are tried.
func TestCommandsWithoutApprovalOnlyRead(t *testing.T) { onlyRead(t, 200) }

func onlyRead(t *testing.T, tries int) {
	b := newBench(t)
	base := filepath.Dir(b.ws)
	out := filepath.Join(base, "out")
	if err := os.MkdirAll(filepath.Join(out, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(out, "secret")
	for _, name := range []string{secret, filepath.Join(out, "sub", "canary-name")} {
		if err := os.WriteFile(name, []byte("canary-file 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.file("a.txt", "one\ntwo\n../out/secret\n")
	b.file("sub/b.txt", "x\n")
	for name, target := range map[string]string{"away": "../out", "file": "../out/secret", "sub/up": "../../out/secret", "in": "sub"} {
		if err := os.Symlink(target, filepath.Join(b.ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(secret, filepath.Join(b.ws, "sub", "second")); err != nil {
		t.Fatal(err)
	}
	waits := osexec.Command("sleep", "600")
	waits.Env = []string{"SECRET=canary-environment"}
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = waits.Process.Kill()
		_ = waits.Wait()
	}()
	operands := []string{"a.txt", "sub/b.txt", "sub", "in/b.txt", "away", "file", "sub/up", "sub/second", "../out/secret", secret, "away/secret", ".", "..", "../out", "missing", "-",
		"--", "x", "+%F", "010203042030", "e", "axe", "aux", b.ws + "/a.txt", "in/../../out/secret", "/dev/zero", "1", "a-z"}
	random, before, ran := rand.New(rand.NewPCG(1, 9)), treeOf(t, base), 0
	for range tries {
		text := randomHarmless(random, operands)
		if b.check(text).Verdict != tools.Allow {
			continue
		}
		ran++
		r := b.call("shell", map[string]any{"command": text, "timeout": 20})
		shown := strings.ReplaceAll(r.Output, text, "")
		if strings.Contains(shown, "canary-") && !strings.HasPrefix(text, "echo") {
			t.Errorf("%q shows %.300s", text, r.Output)
		}
		if r.ErrorKind == tools.Timeout {
			t.Errorf("%q waits", text)
		}
		if after := treeOf(t, base); after != before {
			t.Fatalf("%q has changed files", text)
		}
	}
	if ran < tries/20 {
		t.Errorf("of %d commands only %d ran", tries, ran)
	}
	t.Logf("%d forms tried, %d ran at once", tries, ran)
}

package exec_test

import (
	"os"
	"path/filepath"
	"testing"

	"klawbot/tools"
)

// TestHarmlessCommandsRunAtOnce: those that only read files of the workspace.
func TestHarmlessCommandsRunAtOnce(t *testing.T) {
	b := newBench(t)
	b.file("a.txt", "x")
	b.file("sub/b.txt", "y")
	if err := os.Symlink("sub", filepath.Join(b.ws, "inner")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"ls", "ls -la", "ls -la sub inner", "ls -R .", "ls --color=never", "cat a.txt", "cat -n a.txt sub/b.txt", "cat sub/../a.txt", "cat inner/b.txt",
		"cat " + b.ws + "/a.txt", "cat missing", "head -5 a.txt", "head -n 5 a.txt", "head -n5 a.txt", "tail -20 a.txt", "tail -n +2 a.txt", "tail -c 5 a.txt", "tail -qn5 a.txt", "tail -5 a.txt", "sort -ru a.txt", "date -uR", "date -ud yesterday", "wc -l a.txt",
		"grep x a.txt", "grep -rn 'TODO(' .", "grep -r /etc/hosts .", "grep -e x -e y a.txt", "grep -C2 x a.txt", "grep --include='*.go' -r x .", "grep -m 3 x a.txt",
		"find", "find .", "find . -name '*.go' -type f", "find sub -maxdepth 2 -not -empty", "find . '(' -name a -o -name b ')' -print",
		"echo hello /etc", "echo -n x", "pwd", "date", "date +%F", "date -u '+%H:%M'", "date -d yesterday", "stat a.txt", "stat -c %s a.txt", "file a.txt",
		"sort a.txt", "sort -t, -k2,2n a.txt", "sort -rn", "uniq -c a.txt", "cut -d, -f1 a.txt", "tr a-z A-Z", "tr -d '/'", "diff a.txt sub/b.txt", "diff -u a.txt sub/b.txt",
		"which ls", "uname -a", "df -h", "df -h .", "du -sh", "du -h --max-depth=1 sub", "ps", "ps aux", "ps -ef", "ps -aux",
		"date -Iseconds", "date -Is -u", "date -d -Is", "find . -newer a.txt", "find . -newermt 2024-01-01", "find . -cmin -5 -quit", "diff -r sub sub", "diff -rq a b", "diff -u --label old a.txt sub/b.txt",
		"grep -rIn x sub", "grep -Rn x sub", "grep -rn x . --exclude-dir .git --include '*.md'", "grep --quiet x a.txt", "head --lines 5 a.txt", "du -h --max-depth 1 --exclude=.git .", "stat -L a.txt", "sort -R a.txt", "sort --stable -k1 a.txt",
		"jq . a.txt", "jq .important a.txt", "jq -r '.[] | select(.x > 1) | .y' a.txt", "cat a.txt | jq -e '.a'", "grep --recursive x .", "sed -n 1,20p a.txt", "sed -n '5p' a.txt", "sed -n '10,$p' a.txt sub/b.txt", "cat a.txt | sed -n '1p'",
		"tree -L 2", "tree -d sub", "sha256sum a.txt", "md5sum a.txt sub/b.txt", "basename sub/b.txt .txt", "dirname sub/b.txt", "realpath a.txt", "uptime", "free -h", "nproc", "whoami", "id -un",
		"cat a.txt | grep x | wc -l", "ls && pwd || date; uname", "ls 2>/dev/null", "cat -- a.txt", "cat -", "sort - a.txt",
	} {
		if d := b.check(text); d.Verdict != tools.Allow {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

// TestOtherUsesOfHarmlessCommandsNeedApproval: another file, option or form.
func TestOtherUsesOfHarmlessCommandsNeedApproval(t *testing.T) {
	b := newBench(t)
	out := filepath.Join(filepath.Dir(b.ws), "out")
	for _, dir := range []string{out, b.ws + "-evil", filepath.Join(b.ws, "sub")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(out, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"away": "../out", "file": "../out/secret", "back": "../ws/sub", "absolute": secret} {
		if err := os.Symlink(target, filepath.Join(b.ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(secret, filepath.Join(b.ws, "second")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"cat ../out/secret", "cat " + secret, "cat file", "cat away/secret", "cat absolute", "cat back/../../out/secret", "cat sub/../../out/secret", "cat second",
		"ls ..", "ls /", "ls " + b.ws + "-evil", "ls away", "ls away/", "ls -L file", "ls -H file", "ls /etc", "ls -- /etc", "ls ''/etc", "cat /dev/zero", "cat sub/../..",
		"head -n 5 /etc/hosts", "tail -f a", "tail -F a", "tail --follow a", "tail -5f a", "tail +1f a", "tail +5cf a", "tail --retry a", "tail -cf a", "tail -lf a", "tail -bf a", "tail -5cf a", "tail -fc 5 a", "tail -fn5 a", "tail -qf a", "tail -qF a", "tail -n5 -f a", "tail a -f", "tail --fol a", "tail --follow=name a", "tail -c5f a", "tail +f a", "tail --pid=1 a", "wc --files0-from=a", "grep -f a b", "grep -R x .", "grep x /etc/hosts",
		"grep -e x /etc/hosts", "grep -r x ..", "grep -d read x .", "grep --file=a b", "grep --exclude-from=a b c",
		"find /", "find ..", "find . -exec ls", "find . -delete", "find . -fprint x", "find . -fls x", "find -L .", "find -H away", "find . -newer /etc/hosts", "find . -okdir x", "find away",
		"find . -files0-from x", "find -D x .", "date -s x", "date --set=x", "date 010203042020", "date -f a", "date -r a", "date --reference=/etc/hosts",
		"stat /etc/hosts", "stat -L a --x", "file -f a", "file -m a b", "file -z a", "sort -o x a", "sort -ox a", "sort --output=x a", "sort -T x a", "sort -S1 a", "sort --files0-from=a", "sort --comp=x a", "sort -uo x a", "sort a -o x", "sort --out x a", "sort --outp=x a", "sort -uT /tmp a", "sort --compress-program=sh a", "sort -t -- -o x a", "date -us x", "date -uf a", "date -ur a", "date -uRs x", "date --se=x", "date -d x -s y", "file -C", "file -bC a", "file -bf a", "file --files-from a", "file --compile", "uniq -c1 a b", "grep -nf a b", "grep -if/etc/hosts a", "diff --from-file=a b", "diff --from-fil=/etc/hosts a", "diff -x a b c", "wc -l --files0-from=-", "du -shL", "du -sX a", "ls -I x --derefe", "ls --hyperlink", "which -as ../x", "stat -cL --deref a", "find . -name x -fprintf y z", "find . -fprint0 x", "head -cf /etc/hosts",
		"uniq a b", "uniq -c a b", "cut -d, /etc/hosts", "tr", "diff -r . sub", "diff -r away sub", "diff -r sub ..", "diff . sub", "diff --to-file=/etc/hosts a", "diff a /etc/hosts", "df /etc", "du -L", "du --files0-from=a", "du -h /", "du -X a",
		"ps e", "ps axe", "ps -axe", "ps auxe", "ps -o environ", "ps -eo pid,environ", "ps -ef e", "ps -e -x", "ps E", "pwd x", "uname x", "which -x ls", "which ../out/secret", "which /root/x", "which ls away/secret",
		"date -d -Is 010203042020", "date -Is 010203042020", "date -Iseconds -s x", "date -I -f a", "find . -newer away/secret", "find . -anewer ../out/secret", "find . -newermm /etc/hosts", "find . -samefile /etc/hosts", "grep -R x sub ..", "grep -Rn x .", "grep -rR x .", "grep --include x -f a b", "grep --regexp x /etc/hosts", "grep --context x /etc/hosts", "head --lines 5 /etc/hosts", "du --max-depth 1 /", "stat -L file", "diff --label x /etc/hosts a",
		"jq . /etc/hosts", "jq -n 'import \"a\" as a; 1'", "jq -n 'include \"a\"; 1'", "jq -n '\"a\"|modulemeta'", "jq -f a b", "jq -L /etc . a", "jq --from-file a", "jq --slurpfile x /etc/hosts . a", "jq --rawfile x /etc/hosts . a", "jq -n -f a",
		"sed -n 'w x' a", "sed -n '1,5w x' a", "sed -n '1e ls' a", "sed -n '1r /etc/hosts' a", "sed -n 1p /etc/hosts", "sed -ni 1p a", "sed -n -i 1p a", "sed -n 1p -i a", "sed -n 1p -f a", "sed -n 1p a --in-place", "sed -n '1p;e' a", "sed -n", "sed 1p a", "sed -n 1p -s a",
		"tree -o x", "tree -l", "tree -R -H x", "tree /", "tree --fromfile a", "sha256sum -c a", "sha256sum /etc/hosts", "md5sum --check a", "realpath file", "realpath -m ..", "free -s 1", "id x -Z", "whoami x",
		"rm a", "/bin/ls", "./ls", "LS", "env", "printenv", "touch a", "tee a", "sed -n p a", "awk 1 a", "xargs ls", "less a", "cp a b", "kill 2", "true",
		"grep -r x", "grep -rn x .", "grep --recursive x .", "grep --recur x .", "ls; rm a", "ls | sh", "ls *.go", "ls $X", "ls > a", "ls &", "ls #x", "cat a | uniq - b",
	} {
		if d := b.check(text); text != "tr" && d.Verdict != tools.Ask {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

// TestHarmlessOperandsAreSeenFromWorkdir: a path means what it means to the
// command.
func TestHarmlessOperandsAreSeenFromWorkdir(t *testing.T) {
	b := newBench(t)
	b.file("a.txt", "x")
	b.file("sub/b.txt", "y")
	for text, want := range map[string]tools.Verdict{
		"cat b.txt": tools.Allow, "cat ../a.txt": tools.Allow, "cat ../../out": tools.Ask, "ls ..": tools.Allow, "ls ../..": tools.Ask, "ls ../../ws": tools.Ask,
	} {
		d := b.executor.Check(b.make("shell", map[string]any{"command": text, "workdir": "sub"}))
		if d.Verdict != want {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

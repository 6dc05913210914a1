package command_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/tools/exec/command"
)

// allowed reports whether a line runs unasked under a pattern.
func allowed(t *testing.T, text string, allow ...string) bool {
	t.Helper()
	line, err := command.Parse(text)
	if err != nil {
		return false
	}
	ok, _ := allows(line.Plain, patterns(t, allow...))
	return ok
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"ls", "ls", true}, {"ls", "ls -l", false}, {"ls *", "ls", true}, {"ls *", "ls -l a b", true}, {"ls *", "lsof", false},
		{"ls * x", "ls -l x", true}, {"ls * x", "ls x", false}, {"ls * x", "ls -l -a x", false}, {"*", "rm x", true}, {"*", "", false},
		{"", "ls", false}, {"cat notes/*", "cat notes/a/b", true}, {"cat notes/*", "cat notes/", true}, {"cat notes/*", "cat notes/../a", false},
		{"cat notes/*", "cat notes/a/../b", true}, {"cat notes/*", "cat notes/a/../../b", false}, {"cat *.md", "cat ../a.md", false}, {"cat ../*.md", "cat ../a.md", true}, {"l*", "ls", false}, {"l*", `'l*'`, true}, {"time *", "time ls", false}, {"time *", "'time' ls", false}, {"[[ *", "ls", false}, {"export *", "export X", false}, {"cat *.md", "cat a.md", true}, {"cat *.md", "cat a.txt", false}, {"cat a*b*c", "cat a1b2c", true},
		{"cat a*b*c", "cat a1c2b", false}, {"cat a*a", "cat a", false}, {`echo \*`, `echo '*'`, true}, {`echo '*'`, "echo x", false},
		{"echo 'a b'", `echo a\ b`, true}, {`"ls" -l`, "ls -l", true}, {"git push origin main", "git push origin main", true},
		{"git push origin main", "git push origin main -f", false}, {"./build.sh *", "./build.sh a", true}, {"build.sh", "./build.sh", false},
	} {
		if got := allowed(t, c.text, c.pattern); got != c.want {
			t.Errorf("pattern %q, command %q: %v", c.pattern, c.text, got)
		}
	}
	for _, bad := range []string{"ls; rm", "ls | wc", "ls > x", "ls $X", "X=1 ls", "ls 'x", "ls &", "(ls)", strings.Repeat("x", 2000)} {
		if p, err := command.NewPattern(bad); err == nil {
			t.Errorf("%.20q is a pattern: %v", bad, p)
		}
	}
}

// TestIdlePatterns: what an owner mistypes is found by trying it.
func TestIdlePatterns(t *testing.T) {
	for pattern, idle := range map[string]bool{
		"": true, " ": true, "[": true, "[ -f x": true, "git*": true, "env * x": true,
		"*": false, "ls": false, "ls *": false, "[ *": false, "[ -f x ]": false, "cat *.md": false, "git *": false, "find *": false, "sh -c ls": false,
		"make *": false, "python3 *": false, "docker *": false, "tail *": false, "curl *": false,
	} {
		p, err := command.NewPattern(pattern)
		if err != nil || p.Idle() != idle {
			t.Errorf("%q: idle %v, %v", pattern, p.Idle(), err)
		}
	}
}

// TestStarGrantsNoOtherProgram: a * means no command behind a wrapper, no
// code, and no option that runs, loads or writes something.
func TestStarGrantsNoOtherProgram(t *testing.T) {
	for pattern, texts := range map[string][]string{
		"*":                  {"env rm x", "sh -c ls", "python3 -c 1", "find . -delete", "bash", "xargs rm", "ssh h", "vim x", "cd x", "eval ls", "exec ls"},
		"env *":              {"env rm x", "env -S 'rm x'", "/usr/bin/env x"},
		"sh *":               {"sh -c x", "sh -s", "sh -", "sh", "sh /dev/stdin", "sh /proc/self/fd/0", "sh -o x -c y", "sh +x -c y"},
		"python3 *":          {"python3 -c x", "python3 -Ic x", "python3 -m http.server", "python3 -", "python3 -i x.py", "python3 -W ignore -c x", "python3 -X dev -c x", "python3"},
		"node *":             {"node -e x", "node -pe x", "node --eval=x", "node --import ./x a.js", "node -r ./x a.js", "node --inspect a.js"},
		"perl *":             {"perl -e x", "perl -ne x f", "perl -Mx f", "perl -i x"},
		"awk *":              {"awk 'BEGIN{system(\"x\")}'", "awk '{print > \"x\"}' f", "awk '{print | \"sh\"}' f", "awk -f x f", "gawk '@load \"x\"'", "awk '{\"x\" | getline}' f"},
		"sed *":              {"sed e x", "sed '1e rm x' f", "sed 's/a/b/e' f", "sed 's/a/b/w x' f", "sed 'w x' f", "sed -i s/a/b/ f", "sed -f x f", "sed -n '/x/w o' f", "sed 'r x' f", "sed -e 's/a/b/;e' f"},
		"find *":             {"find . -exec x ;", "find . -execdir x ;", "find . -ok x ;", "find . -fprintf x y", "find . -fls x"},
		"tail *":             {"tail -f x", "tail -cf x", "tail -5f x", "tail +5f x", "tail +cf x", "tail --fol x", "tail --retry x"},
		"sort *":             {"sort -o x f", "sort -ox f", "sort -ro x f", "sort --output=x f", "sort --outp=x f", "sort --compress-prog=x f", "sort -T x f"},
		"tar *":              {"tar xf x --to-command=y", "tar --to-c=y -xf x", "tar -I x -xf y", "tar -xIf x y", "tar xIf x y", "tar cf x --checkpoint-action=exec=y y"},
		"git *":              {"git -c a=b status", "git --exec-path=x status", "git st", "git log --output=x", "git log --outp=x", "git diff --no-index a b", "git grep -O x", "git rebase -x y", "git clone ext::x y", "git fetch -u x", "git fetch --upload-pac=x", "git bisect run x", "git config a b", "git submodule foreach x", "git remote add x ext::y", "git -C x status", "git difftool", "git commit --file=/x", "git worktree add /x"},
		"git push *":         {"git push --receive-pack=x o", "git push --exec=x", "git push --rece=x"},
		"npm *":              {"npm exec x", "npm x y", "npm install x", "npm --prefix x run y", "npm run x --prefix=y", "npm config set x", "npm -C x run y"},
		"npm run *":          {"npm run x --script-shell=y", "npm run --node-options=x y"},
		"go *":               {"go run x", "go generate", "go build -toolexec=x", "go test -exec x", "go vet --vettool=x", "go env -w x", "go tool x", "go install x", "go build -o /x", "go build -o=../x"},
		"cargo *":            {"cargo --config x build", "cargo run", "cargo +x build", "cargo install x"},
		"make *":             {"make SHELL=x", "make --eval=x", "make -f x", "make -C x", "make --file=x", "make -f/x"},
		"curl *":             {"curl -K x", "curl -o x u", "curl --outp x u", "curl FILE:///x", "curl -d @x u", "curl -F a=@x u", "curl -sKx u"},
		"rg *":               {"rg --pre x y", "rg --hostname-bin=x y"},
		"rsync *":            {"rsync -e x a b", "rsync -ae x a b", "rsync --rsh=x a b", "rsync --rsync-path=x a b"},
		"docker *":           {"docker run x", "docker ps"},
		"busybox *":          {"busybox sh"},
		"date *":             {"date -s x", "date --set=x"},
		"ps *":               {"ps e", "ps axe", "ps -o environ"},
		"gcc *":              {"gcc -wrapper x y", "gcc -fplugin=x y", "gcc -Bx y", "gcc @x"},
		"sqlite3 *":          {"sqlite3 x '.shell y'", "sqlite3 -init x y", "sqlite3 x -cmd .y"},
		"bash":               {"echo x | bash"},
		"python3 x.py *":     {"python3 y.py", "python3 -c x.py"},
		"python3.11 *":       {"python3.11 -c x"},
		"/usr/bin/python3 *": {"/usr/bin/python3 -c x"},
	} {
		for _, text := range texts {
			if allowed(t, text, pattern, "echo *") {
				t.Errorf("pattern %q lets %q run", pattern, text)
			}
		}
	}
}

// TestStarGrantsOrdinaryArguments: and does not stand in the way of work.
func TestStarGrantsOrdinaryArguments(t *testing.T) {
	for pattern, texts := range map[string][]string{
		"*":                    {"rm -rf x", "ls -l | wc -l", "git status", "python3 x.py", "cat a && cat b || ls; ls"},
		"python3 *":            {"python3 x.py", "python3 x.py -c y", "python3 --version", "python3 -u x.py"},
		"python3 x.py *":       {"python3 x.py", "python3 x.py -c y -e z"},
		"python3 -m pytest *":  {"python3 -m pytest -q", "python3 -m pytest"},
		"bash build.sh *":      {"bash build.sh -c x"},
		"bash -c 'echo hi'":    {"bash -c 'echo hi'"},
		"timeout 5 ls":         {"timeout 5 ls"},
		"git *":                {"git status", "git log --oneline -10", "git diff HEAD~1", "git commit -m x", "git push origin main", "git add -A", "git checkout -b x", "git branch -a", "git show HEAD", "git --version", "git pull", "git commit --no-edit", "git log --patch", "git log -p", "git diff --stat --cached", "git log --all --graph", "git fetch --all --prune"},
		"git push *":           {"git push origin feature", "git push -u origin x"},
		"git commit *":         {"git commit -m 'fix: x'", "git commit -am x"},
		"find *":               {"find . -name '*.go' -type f", "find src -maxdepth 2"},
		"sort *":               {"sort -rn f", "sort -k2,2n -t, f"},
		"sed *":                {"sed -n 1,5p f", "sed 's/a/b/g' f", "sed -e 's/a/b/' -e 2d f", "sed '/x/d' f", "sed -E 's/(a)/\\1/' f", "sed '1,3d;5p' f"},
		"awk *":                {"awk '{print $1}' f", "awk -F, '{print $2}' f", "awk 'NR==2' f"},
		"tar *":                {"tar tzf x.tgz", "tar xf x", "tar -czf x y"},
		"npm *":                {"npm test", "npm run build", "npm ls"},
		"npm run *":            {"npm run build"},
		"go *":                 {"go test ./...", "go build ./cmd/x", "go vet ./...", "go test -run 'A|B' ./x", "go build -o bin/x ./cmd/x"},
		"go test *":            {"go test -race -count=1 ./..."},
		"cargo *":              {"cargo build --release", "cargo test"},
		"make *":               {"make", "make test", "make -j4 all"},
		"curl *":               {"curl -s https://example.com/", "curl -sS -H 'A: b' https://example.com/?a=1"},
		"grep *":               {"grep -rn 'TODO(' .", "grep -E '^(a|b)$' x"},
		"date *":               {"date +%F", "date -u"},
		"ps *":                 {"ps aux", "ps -ef"},
		"node *":               {"node a.js", "node --version"},
		"jq *":                 {"jq -r '.a[] | .b' x.json"},
		"docker ps":            {"docker ps"},
		"docker compose up -d": {"docker compose up -d"},
		"sqlite3 *":            {"sqlite3 x.db 'select 1'"},
	} {
		for _, text := range texts {
			if !allowed(t, text, pattern) {
				line, err := command.Parse(text)
				t.Errorf("pattern %q does not let %q run: %v %s", pattern, text, err, line.More)
			}
		}
	}
}

func TestMatchingTimeGrowsWithTheWord(t *testing.T) {
	p := patterns(t, "ls "+strings.Repeat("*a", 400)+"*b")[0]
	begun := time.Now()
	if p.Allows([]string{"ls", strings.Repeat("a", 4000)}, false) {
		t.Error("it matches")
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestPlain(t *testing.T) {
	null := func(p command.Program) command.Program { p.Err = command.Null; return p }
	prog := func(argv ...string) command.Program {
		return command.Program{Argv: argv, Out: command.Stdout, Err: command.Stderr}
	}
	line := func(p ...command.Pipeline) []command.Pipeline { return p }
	pipe := func(when command.When, p ...command.Program) command.Pipeline {
		return command.Pipeline{When: when, Programs: p}
	}
	both := prog("ls")
	both.Err = command.Stdout
	swapped := prog("ls")
	swapped.Out, swapped.Err = command.Null, command.Stdout
	quiet := prog("ls")
	quiet.Out, quiet.Err = command.Null, command.Null
	silent := prog("cat")
	silent.NoInput = true
	loud := prog("echo", "x")
	loud.Out = command.Stderr
	for text, want := range map[string][]command.Pipeline{
		"ls":                             line(pipe(command.Always, prog("ls"))),
		"a && b || c; d\ne":              line(pipe(";", prog("a")), pipe("&&", prog("b")), pipe("||", prog("c")), pipe(";", prog("d")), pipe(";", prog("e"))),
		"a | b | c && d | e":             line(pipe(";", prog("a"), prog("b"), prog("c")), pipe("&&", prog("d"), prog("e"))),
		`l\s 'a b'"c\"d\x" e\ f ""`:      line(pipe(";", prog("ls", `a bc"d\x`, "e f", ""))),
		"ls x 2>/dev/null":               line(pipe(";", null(prog("ls", "x")))),
		"ls 2>&1":                        line(pipe(";", both)),
		"ls 2>&1 >/dev/null":             line(pipe(";", swapped)),
		"ls >/dev/null 2>&1":             line(pipe(";", quiet)),
		"cat </dev/null":                 line(pipe(";", silent)),
		"echo x >&2":                     line(pipe(";", loud)),
		"ls \\\n -l":                     line(pipe(";", prog("ls", "-l"))),
		"git diff HEAD~1 x~":             line(pipe(";", prog("git", "diff", "HEAD~1", "x~"))),
		"echo https://x.example/?a=1&&b": line(pipe(";", prog("echo", "https://x.example/?a=1")), pipe("&&", prog("b"))),
		"echo a#b":                       line(pipe(";", prog("echo", "a#b"))),
	} {
		got, err := command.Parse(text)
		if err != nil || !slices.EqualFunc(got.Plain, want, samePipeline) {
			t.Errorf("%q is %+v (%s, %v), want %+v", text, got.Plain, got.More, err, want)
		}
	}
}

func samePipeline(a, b command.Pipeline) bool {
	return a.When == b.When && slices.EqualFunc(a.Programs, b.Programs, func(x, y command.Program) bool {
		return slices.Equal(x.Argv, y.Argv) && x.NoInput == y.NoInput && x.Out == y.Out && x.Err == y.Err
	})
}

func TestNotPlain(t *testing.T) {
	for _, text := range []string{
		"ls #x", "#x\nls", "ls # a\\\nrm x", "ls $X", "ls $(x)", "ls `x`", "ls \"$X\"", "ls <(x)", "ls $((1))", "ls $'x'", `ls $"x"`, "ls *", "ls a?", "ls [a]",
		"ls {a,b}", "ls ~", "ls ~/x", "ls x=~", "ls x:~", "ls a=~/b", `ls ""~`, "ls @(a)", "X=1 ls", "X=1", "ls > f", "ls >> f", "ls 2> f", "ls < f", "ls <<< x", "cat <<E\nx\nE",
		"ls >&3", "ls 3>&1", "ls >&f", "ls &> /dev/null", "ls >| /dev/null", "ls 9>/dev/null", "ls {x}>/dev/null", "> /dev/null", "ls >/dev/nullx", "ls & ", "ls & rm", "! ls", "ls |& rm", "(ls)", "{ ls; }",
		"if ls; then ls; fi", "while ls; do ls; done", "for i in a; do ls; done", "case x in x) ls;; esac", "f() { ls; }", "[[ x ]]", "((1))", "time ls", "coproc ls",
		"export X", "declare X", "local X", "let x=1", "cd x", "eval ls", "exec ls", ". x", "source x", "command ls", "builtin ls", "set -e", "unset x", "wait", ":", "a | (b)",
		"(a) | b", "a && (b)", "'' x", strings.Repeat("ls;", 21), "ls {}", "ls }", "ls\vx", "trap x 0",
	} {
		line, err := command.Parse(text)
		if err == nil && line.Plain != nil {
			t.Errorf("%q is plain: %+v", text, line.Plain)
		} else if err == nil && line.More == "" {
			t.Errorf("%q is not plain and nobody says why", text)
		}
	}
}

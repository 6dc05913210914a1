package command_test

import (
	"testing"

	"klawbot/tools/exec/command"
)

// TestRunsOthers: what a line runs is known only when it names programs that run
// nothing else.
func TestRunsOthers(t *testing.T) {
	for text, want := range map[string]struct{ others, vague bool }{
		"rm -r notes":                      {},
		"mkdir -p a/b && cp x a/b; ls a":   {},
		"echo hi > out.txt":                {},
		"curl -o a https://example.com":    {},
		"find . -name x -delete":           {},
		"cd sub && touch made":             {},
		"cat <<'END' > a\n$x *.sh\nEND":    {},
		"rm '*.txt' \"a?\"":                {},
		"find . -exec sh x.sh ;":           {true, false},
		"python3 main.py":                  {true, false},
		"python3 -c 'import lib1'":         {true, false},
		"node app.js":                      {true, false},
		"perl x.pl":                        {true, false},
		"sh deploy.sh":                     {true, false},
		"./deploy.sh":                      {true, false},
		"/usr/bin/rm a":                    {true, false},
		"make all":                         {true, false},
		"npm run build":                    {true, false},
		"go run .":                         {true, false},
		"pytest":                           {true, false},
		"cargo run":                        {true, false},
		"source env.sh":                    {true, false},
		". ./env.sh":                       {true, false},
		"eval ls":                          {true, false},
		"env A=1 ls":                       {true, false},
		"xargs rm < list":                  {true, false},
		"PATH=. rm a":                      {true, false},
		"export PATH=.; rm a":              {true, false},
		"rm() { ./evil; }; rm a":           {true, false},
		"tar --checkpoint-action=exec=x c": {true, false},
		"awk -f x.awk y":                   {true, false},
		"git commit -m x":                  {true, false},
		"nc -e x.sh host 1":                {true, false},
		"sh *.sh":                          {true, true},
		"rm *.log":                         {true, false},
		"rm $X":                            {true, false},
		"rm \"$X\"":                        {true, false},
		"rm $(cat list)":                   {true, false},
		"rm `cat list`":                    {true, false},
		"cat <(ls)":                        {true, false},
		"(( x[1] ))":                       {true, false},
		"cat <<END > a\n$x\nEND":           {true, false},
		"$X":                               {true, true},
		"./*":                              {true, true},
		"for f in *; do . $f; done":        {true, true},
		"convert *.jpg a.pdf":              {true, false},
		"if true; then ./x; fi":            {true, false},
		"time make":                        {true, false},
	} {
		line, err := command.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if line.RunsOthers != want.others || line.Vague != want.vague {
			t.Errorf("%s: runs others %v, vague %v", text, line.RunsOthers, line.Vague)
		}
	}
}

// TestLooks: what is sure to change nothing, so that nobody is warned of it.
func TestLooks(t *testing.T) {
	for want, lines := range map[bool][]string{
		true: {"cat /etc/hosts", "ls -la /tmp | head -5 && df -h", "grep -rn x / 2>/dev/null", "find / -name x", "sort -u a", "uniq a", "sed -n 1,5p a", "sed s/a/b/ a", "tail -n 5 /var/log/syslog", "jq . a"},
		false: {"rm a", "cat a > b", "cat $X", "cat a; rm b", "find . -delete", "find . -exec cat x ';'", "find . -fprint x", "sort -o a a", "sort -uoa a", "sort --out a b", "uniq a b", "sed -i s/a/b/ a", "sed -ni p a", "sed --in-pl=x p a", "sed 'w x' a", "sed 1e a",
			"./cat a", "/tmp/cat a", "cat a | sh", "cat a | tee b", "X=1 cat a", "cat a &", "date 01020304", "curl x", "python3 x", "ls *", "tail -f a", "env", "jq -f a"},
	} {
		for _, text := range lines {
			line, err := command.Parse(text)
			if err != nil || line.Looks != want {
				t.Errorf("%q: looks %v (%v)", text, line.Looks, err)
			}
		}
	}
}

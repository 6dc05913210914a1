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

package git

import (
	"regexp"
	"strings"
)

// option is how an option takes a value.
type option int

const (
	// takesNone takes none.
	takesNone option = iota + 1
	// mayTake takes one after an equals sign, or none.
	mayTake
	// takesValue takes one, after an equals sign or as the next word.
	takesValue
)

// options are the options that each action may have. What is not here is
// refused: git takes beginnings of options, and many of them run programs, read
// or write other files, or open an editor.
var options = map[string]map[string]option{
	"status": table(`-s --short -b --branch --long -v --verbose -z --show-stash --ahead-behind --no-ahead-behind --renames --no-renames`,
		`--porcelain --untracked-files --ignored -u`, ``),
	"diff": table(diffFlags+` --cached --staged --merge-base --quiet --exit-code`, diffMaybe, diffValues),
	"log": table(diffFlags+` --oneline -i --regexp-ignore-case --graph --no-decorate --reverse --first-parent --merges --no-merges --follow
		--abbrev-commit --no-abbrev-commit --topo-order --date-order --author-date-order --left-right --cherry-pick --full-history --no-walk
		--all-match --invert-grep -E --extended-regexp -F --fixed-strings --source --relative-date`,
		diffMaybe+` --all --branches --tags --remotes --decorate --pretty`,
		diffValues+` -n --max-count --skip --since --after --until --before --author --committer --grep --format --date`),
	"add":    table(`-A --all --no-all -u --update -n --dry-run -v --verbose -N --intent-to-add --ignore-errors`, ``, ``),
	"commit": table(`-a --all -q --quiet -v --verbose --amend --allow-empty --no-edit --no-verify -s --signoff --dry-run --short`, ``, `-m --message --author --date`),
	"branch": table(`-a --all -r --remotes -l --list -v --verbose -d --delete -m --move --show-current -i --ignore-case -q --quiet -t --no-track
		--unset-upstream`, `--merged --no-merged --contains --no-contains --track`, `-u --set-upstream-to --sort --points-at`),
	"checkout": table(`-q --quiet -t --no-track -d --detach --progress --no-progress`, `--track`, `-b`),
	"push": table(`-u --set-upstream -q --quiet -v --verbose -n --dry-run --tags --follow-tags --all --branches --porcelain --atomic --progress
		--no-progress --no-verify --thin --no-thin`, ``, ``),
	"pull": table(`--ff-only --ff --no-ff --no-rebase -q --quiet -v --verbose -t --tags --no-tags -p --prune --autostash --no-autostash --squash
		--no-squash --commit --no-commit --no-edit --stat --no-stat -n --all --unshallow --dry-run --progress --no-progress -r`, `--rebase`, `--depth --deepen`),
	"fetch": table(`--all -p --prune --prune-tags -t --tags --no-tags -q --quiet -v --verbose --dry-run --unshallow -a --append --progress --no-progress
		-m --multiple --porcelain`, ``, `--depth --deepen --shallow-since`),
}

const (
	diffFlags = ` -p -u --patch -s --no-patch --raw --shortstat --numstat --summary --compact-summary --name-only --name-status -w -b -a --text
		--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --minimal --patience --histogram --check
		--full-index --no-color --no-renames -R -W --function-context --no-prefix -z --no-ext-diff --no-textconv --patch-with-stat -m -c --cc --pickaxe-all`
	diffMaybe  = ` --stat --dirstat --word-diff --color --color-words --color-moved --abbrev -M --find-renames -C --find-copies -B --relative `
	diffValues = ` -U --unified --diff-filter --diff-algorithm --word-diff-regex -S -G --inter-hunk-context --stat-width `
)

// table makes the options of an action of three lists.
func table(flags, maybes, values string) map[string]option {
	t := map[string]option{}
	for _, list := range []struct {
		names string
		kind  option
	}{{flags, takesNone}, {maybes, mayTake}, {values, takesValue}} {
		for name := range strings.FieldsSeq(list.names) {
			t[name] = list.kind
		}
	}
	return t
}

// valueForms is what the value of an option must look like. Options without a row
// take any text.
var valueForms = map[string]*regexp.Regexp{
	"--rebase":          regexp.MustCompile(`^(true|false)$`),
	"--depth":           regexp.MustCompile(`^\d{1,9}$`),
	"--deepen":          regexp.MustCompile(`^\d{1,9}$`),
	"-n":                regexp.MustCompile(`^\d{1,9}$`),
	"--max-count":       regexp.MustCompile(`^\d{1,9}$`),
	"--skip":            regexp.MustCompile(`^\d{1,9}$`),
	"-U":                regexp.MustCompile(`^\d{1,9}$`),
	"--unified":         regexp.MustCompile(`^\d{1,9}$`),
	"-u":                nameForm, // status -uno, branch -u origin/main
	"-b":                nameForm,
	"--set-upstream-to": nameForm,
	"--points-at":       nameForm,
	"--merged":          nameForm,
	"--no-merged":       nameForm,
	"--contains":        nameForm,
	"--no-contains":     nameForm,
	"--sort":            regexp.MustCompile(`^-?[a-z:]{1,40}$`),
	"--relative":        regexp.MustCompile(`^$`),
}

// nameForm is a name of a branch, a tag or a commit. A bound of its length would
// make it slow to compile, and every sandbox starts this program again.
var nameForm = regexp.MustCompile(`^[\pL\pN_.@{}~^/+=#][\pL\pN_.@{}~^/+=#-]*$`)

// shows is a placeholder that makes git verify signatures, which runs a
// program.
var shows = regexp.MustCompile(`%[-+ ]?G`)

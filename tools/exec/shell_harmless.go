package exec

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// harmless is what a command of the built-in list may be told without anybody
// being asked. What is not said here is asked about.
type harmless struct {
	// flags are option letters, valued those that a value follows.
	flags, valued string
	// joined are letters that a value may follow in the same word.
	joined string
	// long are long options, written out; those that end in = have a value, which is
	// the next word when they stand without it.
	long string
	// digits says that -5 is an option.
	digits bool
	// text says that the operands are not files.
	text bool
	// pattern says that the first operand is not a file, unless -e stands before.
	pattern bool
	// files says that the operands are files, and folders only with deep.
	files bool
	// deep, if not empty, are options that read what is in folders, follows those of
	// them that follow links there.
	deep, follows string
	// most bounds the number of operands; 0 is none.
	most int
	// judge, if not nil, judges in place of all this.
	judge func(w where, args []string) string
}

// harmlessCommands is the list. A letter is listed here only when it makes the
// command neither write, nor run, nor wait, nor follow links.
var harmlessCommands = map[string]harmless{
	"ls": {flags: "lahtrSA1dFRisnpgoXvkcuGNmxCBfqQU", long: `--color --color= --all --almost-all --human-readable --recursive --reverse
		--size --sort= --time= --time-style= --group-directories-first --full-time --classify --directory --inode`},
	"cat":  {flags: "nbAsETvetu"},
	"head": {flags: "qvz", valued: "nc", digits: true, long: "--lines= --bytes="},
	"tail": {judge: harmlessTail},
	"wc":   {flags: "lcwmL", long: "--max-line-length --lines --words --bytes --chars"},
	"grep": {flags: "invcolLhHrREFGPwxsqabzITZ", valued: "eABCm", digits: true, pattern: true, deep: "rR", follows: "R", long: `--color --color= --include= --exclude= --exclude-dir=
		--ignore-case --line-number --count --recursive --extended-regexp --fixed-strings --word-regexp --invert-match --only-matching
		--quiet --no-messages --with-filename --no-filename --perl-regexp --files-with-matches --max-count= --context --context= --after-context= --before-context=`},
	"find":  {judge: harmlessFind},
	"echo":  {judge: func(where, []string) string { return "" }},
	"pwd":   {flags: "LP", text: true, most: -1},
	"date":  {judge: harmlessDate},
	"stat":  {flags: "ftL", valued: "c", long: "--format= --printf= --terse"},
	"file":  {flags: "bik", long: "--brief --mime --mime-type --mime-encoding"},
	"sort":  {flags: "nrufhbdgiMVszcCmR", valued: "kt", long: "--stable --check --ignore-case --random-sort --numeric-sort --reverse --unique --key= --field-separator= --human-numeric-sort --version-sort"},
	"uniq":  {flags: "cduiz", valued: "fsw", most: 1, long: "--count --repeated --unique --ignore-case"},
	"cut":   {flags: "szn", valued: "dfcb", long: "--delimiter= --fields= --characters= --bytes= --output-delimiter= --complement --only-delimited"},
	"tr":    {flags: "dscCt", text: true, long: "--delete --squeeze-repeats --complement"},
	"diff":  {flags: "uqwbBiyNaTtspEZr", valued: "UCW", files: true, deep: "r", follows: "r", long: "--label= --recursive --brief --unified --unified= --color --color= --side-by-side --ignore-case --ignore-all-space"},
	"which": {flags: "a"}, // a name with a slash is a file
	"uname": {flags: "asnrvmpio", text: true, most: -1, long: "--all"},
	"df":    {flags: "hkmTPiHal", long: "--human-readable --total"},
	"du":    {flags: "shackmbxSl0", valued: "d", long: "--exclude= --max-depth= --summarize --human-readable --total --apparent-size"},
	"ps":    {judge: harmlessPs}, "jq": {judge: harmlessJq}, "sed": {judge: harmlessSed},
	"tree":      {flags: "adfhspDFrtCin", valued: "LPI", long: "--dirsfirst --noreport --du --prune"},
	"sha256sum": {flags: "btz"}, "md5sum": {flags: "btz"}, "realpath": {flags: "esz"}, "basename": {flags: "az", text: true}, "dirname": {flags: "z", text: true},
	"whoami": {text: true, most: -1}, "id": {flags: "unGgrz", text: true, most: -1}, "nproc": {text: true, most: -1, long: "--all"},
	"free": {flags: "hmgkbtw", text: true, most: -1}, "uptime": {flags: "ps", text: true, most: -1},
}

// harmless says why a command may not run unasked, or "" when it may.
func (w where) harmless(argv []string) string {
	h, known := harmlessCommands[argv[0]]
	switch {
	case !known:
		return "it is not one of the read-only commands"
	case h.judge != nil:
		return h.judge(w, argv[1:])
	}
	return w.judge(h, argv[1:])
}

// judge says why arguments may not be given unasked, or "" when they may.
func (w where) judge(h harmless, args []string) string {
	operands, why := h.operands(args)
	if why != "" || h.text && (h.most == 0 || len(operands) == 0) {
		return why
	}
	if h.most < 0 || h.most > 0 && len(operands) > h.most {
		return "it has too many operands"
	}
	has := func(letters string) bool {
		return letters != "" && slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix("--recursive", a) && len(a) > 3 && strings.Contains(letters, "r") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, letters)
		})
	}
	deep, follows := has(h.deep), has(h.follows)
	if deep && len(operands) == 0 {
		operands = []string{"."}
	}
	for _, name := range operands {
		why := w.readable(name, h.files && !deep)
		if why == "" && deep {
			why = w.readableBelow(name, follows)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

var digits = regexp.MustCompile(`^-\d+$`)

// operands are the arguments that are not options; all options must be known.
func (h harmless) operands(args []string) (operands []string, why string) {
	pattern := h.pattern
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			operands, i = append(operands, args[i+1:]...), len(args)
		case strings.HasPrefix(a, "--"):
			name, _, valued := strings.Cut(a, "=")
			if valued {
				name += "="
			}
			if long := strings.Fields(h.long); !valued && !slices.Contains(long, name) && slices.Contains(long, name+"=") {
				i++ // its value
			} else if !slices.Contains(long, name) {
				return nil, "the option " + oneLine(a) + " is not one that only reads"
			}
		case h.digits && digits.MatchString(a):
		case strings.HasPrefix(a, "-") && a != "-":
			last, ok := h.cluster(a[1:])
			if !ok {
				return nil, "the option " + oneLine(a) + " is not one that only reads"
			}
			pattern = pattern && !strings.Contains(a, "e")
			if last {
				i++ // its value
			}
		default:
			operands = append(operands, a)
		}
	}
	if pattern && len(operands) > 0 {
		operands = operands[1:]
	}
	return operands, ""
}

// cluster reports whether the option letters are known, and whether the value of
// the last one is the next argument.
func (h harmless) cluster(letters string) (next, ok bool) {
	for i, r := range letters {
		if strings.ContainsRune(h.valued, r) {
			return i == len(letters)-1, true
		}
		if !strings.ContainsRune(h.flags, r) {
			return false, strings.ContainsRune(h.joined, r)
		}
	}
	return false, true
}

// readable says why an operand may not be read unasked, or "" when it may: it is
// a file or folder of the workspace, or nothing at all.
func (w where) readable(name string, fileOnly bool) string {
	if name == "-" {
		return ""
	}
	info, err := w.stat(name)
	switch {
	case os.IsNotExist(err):
		return ""
	case errors.Is(err, errDetour):
		return oneLine(name) + " leads back (..) out of what is no directory, or a link"
	case err != nil:
		return oneLine(name) + " is outside the workspace"
	case !info.Mode().IsRegular() && !info.IsDir(), fileOnly && info.IsDir():
		return oneLine(name) + " is not a regular file"
	}
	if !w.hardlinks && linked(info) {
		return oneLine(name) + secondName
	}
	return ""
}

const secondName = " has a second name that may lie outside the workspace"

// linked reports whether a file has several names.
func linked(info fs.FileInfo) bool {
	s, is := info.Sys().(*syscall.Stat_t)
	return is && info.Mode().IsRegular() && s.Nlink > 1
}

// stat checks what an operand names. An error may say that it is outside.
func (w where) stat(name string) (fs.FileInfo, error) {
	seen, err := w.seen(name)
	if err != nil {
		return nil, err
	}
	if err := w.straight(seen); err != nil {
		return nil, err
	}
	return w.root.Stat(seen)
}

// errDetour says that a path leads back out of something that is not a folder now: it
// names another place once there is a folder, or a link to one.
var errDetour = errors.New("path leads back out of what is no directory")

// straight refuses paths with .. after anything but folders of the workspace.
func (w where) straight(seen string) error {
	var at []string // the folders that the path has led into
	known := 0      // how many of them were checked
	for part := range strings.SplitSeq(seen, "/") {
		if part == "" || part == "." {
			continue
		}
		if part != ".." {
			at = append(at, part)
			continue
		}
		for ; known < len(at); known++ {
			if info, err := w.root.Lstat(strings.Join(at[:known+1], "/")); err != nil || !info.IsDir() {
				return errDetour
			}
		}
		if len(at) == 0 {
			return errOutside
		}
		at = at[:len(at)-1]
		known = min(known, len(at))
	}
	return nil
}

// seen is an operand as it is seen from the workspace.
func (w where) seen(name string) (string, error) {
	if path.IsAbs(name) {
		return w.inside(name)
	}
	return w.below + "/" + name, nil
}

// maxBelow is in how many files and folders second names are looked for, for all
// operands of a line together.
const maxBelow = 50_000

var errEnough = errors.New("too many files")

// readableBelow says why what is below a folder may not be read unasked, or ""
// when it may. Where links are followed, there may be none.
func (w where) readableBelow(name string, follows bool) (why string) {
	if w.hardlinks && !follows {
		return ""
	}
	seen, err := w.seen(name)
	if err != nil {
		return oneLine(name) + " is outside the workspace"
	}
	dir, err := w.root.OpenRoot(seen)
	if err != nil {
		return "" // no folder
	}
	defer dir.Close()
	err = fs.WalkDir(dir.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if !w.files.Spend(1) {
			return errEnough
		}
		if err == nil && follows && d.Type()&fs.ModeSymlink != 0 {
			why = oneLine(at) + " is a link"
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() || w.hardlinks {
			return nil // what cannot be read here, the command cannot read either
		}
		// git clone --local shares its objects by hard links; they are harmless.
		if info, err := d.Info(); err == nil && linked(info) && !strings.Contains("/"+at, "/.git/objects/") {
			why = oneLine(at) + secondName
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "there are too many files below " + oneLine(name)
	}
	return why
}

// findTests are the expressions of find that only look, with how many values
// follow each.
var findTests = map[string]int{
	"-name": 1, "-iname": 1, "-type": 1, "-size": 1, "-mtime": 1, "-mmin": 1, "-atime": 1, "-ctime": 1, "-maxdepth": 1, "-mindepth": 1,
	"-path": 1, "-ipath": 1, "-regex": 1, "-iregex": 1, "-perm": 1, "-user": 1, "-group": 1, "-printf": 1, "-empty": 0, "-not": 0, "!": 0,
	"-o": 0, "-or": 0, "-a": 0, "-and": 0, "(": 0, ")": 0, "-print": 0, "-print0": 0, "-prune": 0, "-ls": 0, "-readable": 0, "-writable": 0,
	"-newer": 1, "-anewer": 1, "-cnewer": 1, "-newermt": 1, "-newerat": 1, "-newerct": 1, "-amin": 1, "-cmin": 1, "-wholename": 1, "-links": 1, "-quit": 0,
	"-executable": 0, "-true": 0, "-false": 0, "-xdev": 0, "-mount": 0, "-depth": 0,
}

// harmlessFind judges a find: folders of the workspace, then only tests.
func harmlessFind(w where, args []string) string {
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i], "-") && args[i] != "(" && args[i] != "!"; i++ {
		if why := w.readable(args[i], false); why != "" {
			return why
		}
	}
	for ; i < len(args); i++ {
		values, known := findTests[args[i]]
		if !known {
			return "the expression " + oneLine(args[i]) + " is not one that only reads"
		}
		if strings.HasSuffix(args[i], "newer") && i+1 < len(args) {
			if why := w.readable(args[i+1], false); why != "" {
				return why
			}
		}
		i += values
	}
	return ""
}

// tailFollows is the old form of tail's options that waits for more: -5f, +1f, -cf.
var tailFollows = regexp.MustCompile(`^[-+].*[fF]$`)

// harmlessTail judges a tail: it does not wait for more, not with the old form
// of its options either.
func harmlessTail(w where, args []string) string {
	if slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "--") && tailFollows.MatchString(a) }) {
		return "it may wait for more"
	}
	h := harmless{flags: "qvz", valued: "nc", digits: true, long: "--lines= --bytes="}
	return w.judge(h, args)
}

// harmlessDate judges a date: it shows a time and does not set it.
func harmlessDate(_ where, args []string) string {
	h := harmless{flags: "uR", valued: "d", joined: "I", long: "--utc --date= --iso-8601 --iso-8601= --rfc-3339= --rfc-email"}
	operands, why := h.operands(args)
	for _, o := range operands {
		if !strings.HasPrefix(o, "+") {
			why = "it sets the time"
		}
	}
	return why
}

// ps takes letters with and without a dash for different options, and what it
// does not know with a dash for letters without one: an e among those shows the
// environment of processes.
var (
	psEvery = regexp.MustCompile(`^-[AefFlyLwH]+$`)
	psOther = regexp.MustCompile(`^(-[aAfFlujwxHT]+|[aflujwx]+)$`)
)

// harmlessPs judges a ps.
func harmlessPs(_ where, args []string) string {
	for _, form := range []*regexp.Regexp{psEvery, psOther} {
		if !slices.ContainsFunc(args, func(a string) bool { return !form.MatchString(a) }) {
			return ""
		}
	}
	return "such options may show the environment of processes"
}

// jqModule is what has jq load a module, or tell of one.
var jqModule = regexp.MustCompile(`\b(import|include|modulemeta)\b`)

// harmlessJq judges a jq: it reads no files but its operands.
func harmlessJq(w where, args []string) string {
	if slices.ContainsFunc(args, jqModule.MatchString) {
		return "its filter may load a module"
	}
	return w.judge(harmless{flags: "rcseSnaCMjR", pattern: true, long: "--raw-output --compact-output --slurp --null-input --sort-keys --tab"}, args)
}

// sedLines is a script of sed that shows lines by their numbers.
var sedLines = regexp.MustCompile(`^(\d+|\$)(,(\d+|\$))?p$`)

// harmlessSed judges a sed: it shows some lines of files.
func harmlessSed(w where, args []string) string {
	if len(args) < 2 || args[0] != "-n" || !sedLines.MatchString(args[1]) {
		return "it does more than show lines by their numbers"
	}
	return w.judge(harmless{}, args[2:])
}

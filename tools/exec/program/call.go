package program

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Call is a command that a pattern fits. What a * of the pattern means is
// free: the author of the command chose it.
type Call struct {
	Name  string
	Args  []string
	Free  []bool // which args are free
	Open  bool   // further arguments could have followed
	Piped bool   // it reads what another program writes
}

// danger is what the free arguments of a program may not hold, because the
// program would run something else, load code or write where it is told to.
type danger struct {
	// short are option letters, alone or in a cluster.
	short string
	// long are long options; the program takes beginnings of them, too.
	long []string
	// words are arguments that may not be free, as written.
	words []string
	// only, if not nil, are the only words that the first operand may be.
	only []string
	// prefixes are beginnings that no free argument may have.
	prefixes []string
	// single says that the program writes long options with one dash.
	single bool
	// clusters says that a first argument without a dash is a cluster of
	// option letters.
	clusters bool
	// look, if not nil, finds what a list cannot say.
	look func(c Call) bool
}

// MayRun reports whether free arguments make the program run something else.
func (c Call) MayRun() bool {
	name := path.Base(c.Name)
	anyFree := slices.Contains(c.Free, true)
	switch {
	case c.Piped && ReadsProgram(append([]string{c.Name}, c.Args...)):
		return true // no pattern spells what it runs
	case RunsOthers(name):
		return anyFree
	case IsShell(name), IsLanguage(name):
		return c.runsCode()
	}
	n := plainName(name, dangerous)
	if other, is := otherNames[n]; is {
		n = other
	}
	d, known := dangers[n]
	return known && anyFree && d.found(c)
}

// harmlessOptions are options of languages and shells that only say something.
var harmlessOptions = []string{"--version", "-version", "--help", "-V", "-B", "-u", "-O", "-q"}

// runsCode reports whether a shell or a language runs code that the pattern does not
// spell: it must have a script, and no free option before it.
func (c Call) runsCode() bool {
	for i, a := range c.Args {
		switch {
		case !c.Free[i] && strings.HasPrefix(a, "-") && i+1 < len(c.Args) && !c.Free[i+1]:
			// A spelled option with what follows it ("-m pytest") is the owner's word.
			if a == "-m" || a == "-c" || a == "-e" {
				return false
			}
		case !c.Free[i] && strings.HasPrefix(a, "-"):
			if slices.Contains(harmlessOptions, a) && i+1 == len(c.Args) {
				return false
			}
		case strings.HasPrefix(a, "-"), IsShell(c.Name) && strings.HasPrefix(a, "+"):
			if slices.Contains(harmlessOptions, a) && !IsShell(c.Name) {
				if a == "--version" || a == "-version" || a == "--help" {
					return false
				}
				continue
			}
			return true
		default:
			return c.Free[i] && (strings.HasPrefix(a, "/dev/") || strings.HasPrefix(a, "/proc/") || subcommands(c.Name, a))
		}
	}
	return c.Open || slices.Contains(c.Free, true)
}

// subcommands reports whether the first operand of a language is a command of its
// own that runs code.
func subcommands(name, operand string) bool {
	n := plainName(name, languages)
	return (n == "deno" || n == "bun") && slices.Contains([]string{"eval", "x", "repl", "install", "add", "upgrade", "task"}, operand)
}

// found reports whether a free argument is dangerous.
func (d danger) found(c Call) bool {
	operands := 0
	for i, a := range c.Args {
		isOption := strings.HasPrefix(a, "-") && a != "-"
		if !isOption {
			operands++
		}
		if !c.Free[i] {
			continue
		}
		switch {
		case slices.Contains(d.words, a):
			return true
		case slices.ContainsFunc(d.prefixes, func(p string) bool { return strings.HasPrefix(a, p) }):
			return true
		case isOption && d.option(a), d.clusters && i == 0 && !isOption && strings.ContainsAny(a, d.short):
			return true
		case !isOption && operands == 1 && d.only != nil && !slices.Contains(d.only, a):
			return true
		}
	}
	return d.look != nil && d.look(c)
}

// option reports whether an option is one of the dangerous ones.
func (d danger) option(a string) bool {
	name, _, _ := strings.Cut(a, "=")
	if d.single {
		name = "-" + strings.TrimLeft(name, "-")
		return slices.ContainsFunc(d.long, func(l string) bool { return "-"+strings.TrimLeft(l, "-") == name })
	}
	if strings.HasPrefix(name, "--") {
		return len(name) > 2 && slices.ContainsFunc(d.long, func(l string) bool { return strings.HasPrefix(l, name) })
	}
	return strings.ContainsAny(a[1:], d.short)
}

// dangers are the programs whose free arguments are checked.
var dangers = map[string]danger{
	"find": {words: strings.Fields("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from")},
	"fd":   {short: "xX", long: []string{"--exec", "--exec-batch"}},
	"rg":   {long: []string{"--pre", "--hostname-bin"}},
	"sort": {short: "oT", long: []string{"--output", "--compress-program", "--temporary-directory", "--files0-from"}},
	"uniq": {look: func(c Call) bool { return c.operands() > 1 }},
	"date": {short: "sf", long: []string{"--set", "--file"}},
	"tail": {short: "fF", long: []string{"--follow", "--retry"}, look: some(oldFollow.MatchString)},
	"tar": {short: "IF", clusters: true, long: []string{"--to-command", "--checkpoint-action", "--use-compress-program", "--rmt-command", "--rsh-command",
		"--info-script", "--new-volume-script", "--checkpoint"}},
	"zip":    {short: "T", long: []string{"--unzip-command", "--test"}},
	"rsync":  {short: "e", long: []string{"--rsh", "--rsync-path", "--config"}},
	"scp":    {short: "SoFDJ"},
	"wget":   {short: "eOPi", long: []string{"--use-askpass", "--execute", "--config", "--output-document", "--directory-prefix", "--input-file", "--post-file", "--body-file"}},
	"curl":   {short: "KoOTEq", long: []string{"--config", "--output", "--output-dir", "--remote-name", "--remote-name-all", "--upload-file", "--engine", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii", "--stderr"}, look: some(readsFile)},
	"man":    {short: "PHp", long: []string{"--pager", "--html", "--preprocessor", "--config-file"}},
	"awk":    {short: "fvilE", long: []string{"--file", "--include", "--load", "--exec", "--assign"}, look: holds("system", "|", ">", "getline", "@", "close", "/inet")},
	"sed":    {short: "ifIs", long: []string{"--in-place", "--file", "--separate"}, look: sedRuns},
	"git":    {look: gitRuns},
	"hg":     {long: []string{"--config", "--cwd", "--repository", "--config-file"}, short: "R"},
	"svn":    {long: []string{"--config-option", "--config-dir", "--diff-cmd", "--editor-cmd", "--diff3-cmd"}},
	"npm":    {only: packageCommands, prefixes: []string{"--"}, short: "C"},
	"pnpm":   {only: packageCommands, prefixes: []string{"--"}, short: "C"},
	"yarn":   {only: packageCommands, prefixes: []string{"--"}},
	"pip":    {only: strings.Fields("list show freeze check"), short: "cre"},
	"uv":     {only: strings.Fields("version tree")},
	"poetry": {only: strings.Fields("show check version")},
	"gem":    {only: strings.Fields("list search environment")},
	"go": {only: strings.Fields("build test vet list version doc fmt mod"), single: true,
		long: strings.Fields("-toolexec -exec -vettool -overlay -modfile -C -ldflags -gcflags -asmflags -gccgoflags -compiler -w -pkgdir"), look: writesOutside},
	"cargo":   {only: strings.Fields("build test check clippy fmt doc tree metadata search version"), long: []string{"--config", "--manifest-path", "--target-dir"}, short: "ZC", prefixes: []string{"+"}},
	"make":    {short: "fCEIo", long: []string{"--eval", "--file", "--makefile", "--directory", "--include-dir", "--environment-overrides"}, look: some(setsVariable)},
	"cmake":   {short: "DPECG", prefixes: []string{"--"}},
	"ninja":   {short: "fCt"},
	"gcc":     {prefixes: []string{"-wrapper", "-B", "-fplugin", "-specs", "--specs", "@", "-Xclang", "-load", "-o/", "-o.."}},
	"pytest":  {short: "pco", long: []string{"--rootdir", "--confcutdir", "--override-ini", "--basetemp", "--pdbcls", "--config-file"}},
	"ip":      {words: []string{"exec", "-b", "-batch", "-force"}, short: "b"},
	"sqlite3": {prefixes: []string{".", "-init", "--init", "-cmd", "--cmd"}, look: holds("\n.", "load_extension", "writefile", "edit(")},
	"psql":    {short: "fov", long: []string{"--file", "--output", "--set", "--variable"}, look: holds(`\`, "program")},
	"mysql":   {prefixes: []string{"--defaults", "--init-command", "--pager", "--tee"}, look: holds(`\!`, "system ", "source ", `\.`, "outfile", "dumpfile")},
	"tcpdump": {short: "zw"},
	"apt":     {short: "oc", long: []string{"--option", "--config-file"}},
	"dpkg":    {short: "iP", long: []string{"--install", "--pre-invoke", "--post-invoke", "--status-logger", "--unpack", "--configure"}},
	"openssl": {long: nil, prefixes: []string{"-engine", "-provider", "-config", "--engine"}},
	"gpg":     {long: []string{"--exec-path", "--photo-viewer", "--options", "--agent-program", "--dirmngr-program", "--output", "--pinentry-mode"}, short: "o"},
	"jq":      {short: "fL", long: []string{"--from-file"}},
	"ps":      {look: some(showsEnvironment)},
}

var packageCommands = strings.Fields("test t tst run run-script start stop restart ls list outdated view info audit why fund ping")

// otherNames are names under which the same programs are installed.
var otherNames = map[string]string{
	"gawk": "awk", "mawk": "awk", "nawk": "awk", "gsed": "sed", "bsdtar": "tar", "gtar": "tar", "fdfind": "fd", "pip3": "pip", "gmake": "make",
	"cc": "gcc", "g++": "gcc", "c++": "gcc", "clang": "gcc", "clang++": "gcc", "apt-get": "apt",
}

// dangerous are all names of such programs.
var dangerous = slices.Concat(slices.Collect(maps.Keys(dangers)), slices.Collect(maps.Keys(otherNames)))

// operands counts the arguments that are not options.
func (c Call) operands() int {
	n, ended := 0, false
	for _, a := range c.Args {
		switch {
		case !ended && a == "--":
			ended = true
		case ended || a == "-" || !strings.HasPrefix(a, "-"):
			n++
		}
	}
	return n
}

// some finds a free argument of a kind.
func some(kind func(argument string) bool) func(Call) bool {
	return func(c Call) bool {
		for i, a := range c.Args {
			if c.Free[i] && kind(a) {
				return true
			}
		}
		return false
	}
}

// holds finds a text in the free arguments, whatever its case.
func holds(texts ...string) func(Call) bool {
	return some(func(a string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(a), t) })
	})
}

// oldFollow is the old form of tail's options that waits for more: +5f.
var oldFollow = regexp.MustCompile(`^\+\d*[bcl]?f$`)

// readsFile reports whether an argument has curl read a file of this machine.
func readsFile(a string) bool {
	return strings.HasPrefix(strings.ToLower(a), "file:") || strings.HasPrefix(a, "@") || strings.Contains(a, "=@") || strings.Contains(a, "=<")
}

// writesOutside reports whether the option -o names a file outside the folder.
func writesOutside(c Call) bool {
	for i, a := range c.Args {
		name, value, joined := strings.Cut(a, "=")
		if name != "-o" && name != "--o" {
			continue
		}
		if !joined && i+1 < len(c.Args) {
			i, value = i+1, c.Args[i+1]
		}
		if c.Free[i] && outside(value) {
			return true
		}
	}
	return false
}

// setsVariable reports whether an argument is a variable for make.
func setsVariable(a string) bool { return !strings.HasPrefix(a, "-") && strings.Contains(a, "=") }

// showsEnvironment reports whether an argument has ps show the environment of
// processes.
func showsEnvironment(a string) bool {
	return !strings.HasPrefix(a, "-") && strings.Contains(a, "e") || strings.Contains(a, "environ")
}

// sedScript is a script of sed that only changes what passes.
var sedScript = regexp.MustCompile(`^\s*(` + sedCommand + `)(\s*[;\n]\s*(` + sedCommand + `))*\s*;?\s*$`)

const (
	sedAddress = `(\d+|\$|/(\\.|[^/\\\n])*/I?)`
	sedCommand = `(` + sedAddress + `(\s*,\s*(` + sedAddress + `|[+~]\d+))?\s*!?\s*)?` +
		`([pdDgGhHlnNPqQx=]|y/(\\.|[^/\\\n])*/(\\.|[^/\\\n])*/|s/(\\.|[^/\\\n])*/(\\.|[^/\\\n])*/[gpiI0-9]*|s\|(\\.|[^|\\\n])*\|(\\.|[^|\\\n])*\|[gpiI0-9]*|s#(\\.|[^#\\\n])*#(\\.|[^#\\\n])*#[gpiI0-9]*)`
)

// sedRuns reports whether a script of sed may run a command or write a file.
func sedRuns(c Call) bool {
	script, given := "", false
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		switch {
		case a == "-e" || a == "--expression":
			if i++; i < len(c.Args) {
				script, given = c.Args[i], true
			}
		case strings.HasPrefix(a, "-e"), strings.HasPrefix(a, "--expression="):
			script, given = strings.TrimPrefix(strings.TrimPrefix(a, "--expression="), "-e"), true
		case strings.HasPrefix(a, "-") && strings.Trim(a[1:], "nErzu") == "":
			continue
		case strings.HasPrefix(a, "-"):
			return true
		case !given:
			script, given = a, true
		default:
			continue
		}
		if c.Free[i] && !sedScript.MatchString(script) {
			return true
		}
	}
	return !given
}

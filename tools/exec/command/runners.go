package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Programs that run others, or text of their own languages.
var (
	// wrappers run the command that follows in their arguments.
	wrappers = strings.Fields(`at batch builtin busybox capsh chpst chroot chronic chrt cgexec command crontab daemonize
		dbus-run-session doas docker dtach ed emacs emacsclient entr env eval exec expect fakeroot firejail flock gdb gosu gnuplot helm
		ionice joe kubectl ld.so less linux32 linux64 lldb ltrace mcedit mg more most mosh nano ncat nerdctl newgrp nice nmap
		nohup nsenter numactl nvim parallel perf pico pkexec podman prlimit proot proxychains proxychains4 run-parts runuser
		rview rvim screen script sem setarch setpriv setsid sg socat ssh sshpass start-stop-daemon stdbuf strace su su-exec sudo sudoedit
		systemd-inhibit systemd-run taskset telnet time timeout tmux toybox tsp unbuffer unshare uuxqt valgrind vi view vim
		vimdiff visudo watch watchexec wine x-terminal-emulator xargs xterm xvfb-run npx pnpx bunx uvx pipx bwrap crun runc
		dc tftp ftp sftp mutt mail mailx rlwrap`)

	// shells run text.
	shells = strings.Fields(`sh bash rbash dash ash zsh ksh ksh93 mksh fish csh tcsh yash oksh pwsh`)

	// languages run text of their own.
	languages = strings.Fields(`python python2 python3 pypy pypy3 ipython ipython3 node nodejs deno bun ts-node tsx perl ruby irb jruby
		php lua luajit tclsh wish Rscript R julia guile racket ocaml runghc java groovy scala elixir erl swift osascript expect octave
		sbcl clisp`)

	downloaders = []string{"curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "lwp-request"}
)

// versioned is the version at the end of the name of a program.
var versioned = regexp.MustCompile(`[-.]?\d+(\.\d+)*$`)

// plainName is the name of a program without its folder and version.
func plainName(name string, among []string) string {
	name = base(name)
	if slices.Contains(among, name) {
		return name
	}
	return versioned.ReplaceAllString(name, "")
}

// runsOthers reports whether a program runs the command in its arguments.
func runsOthers(name string) bool {
	return slices.Contains(wrappers, base(name)) || strings.HasPrefix(base(name), "ld-linux") || strings.HasPrefix(base(name), "ld-musl")
}

func isShell(name string) bool    { return slices.Contains(shells, plainName(name, shells)) }
func isLanguage(name string) bool { return slices.Contains(languages, plainName(name, languages)) }

// runsText reports whether a command runs shell text that it is given.
func runsText(name string) bool {
	return isShell(name) || name == "eval" || name == "source" || name == "."
}

// readsProgram reports whether a command runs what it reads.
func readsProgram(argv []string) bool {
	for i, a := range argv {
		if i > 0 && !runsOthers(argv[0]) {
			return false
		}
		switch {
		case isShell(a), a == "source", a == ".":
			return true
		case isLanguage(a):
			rest := argv[i+1:]
			return !slices.ContainsFunc(rest, func(o string) bool { return o != "-" })
		}
	}
	return false
}

// codes are the shell texts in the arguments of a command.
func codes(argv []string) []string {
	name := base(argv[0])
	switch {
	case name == "eval":
		return []string{strings.Join(argv[1:], " ")}
	case isShell(name), name == "su", name == "script", name == "runuser", name == "sg", name == "flock":
		for i, a := range argv[1:] {
			if inline, next := codeOption(a); next && i+2 < len(argv) {
				return argv[i+2:]
			} else if inline != "" {
				return []string{inline}
			}
		}
	case name == "env", name == "watch", name == "ssh", name == "parallel", name == "tmux", name == "screen":
		var all []string
		for _, a := range argv[1:] {
			if a = strings.TrimPrefix(strings.TrimPrefix(a, "--split-string="), "-S"); strings.ContainsAny(a, " \t\n") {
				all = append(all, a)
			}
		}
		return all
	}
	return nil
}

// codeOption reports whether an option says that shell text follows, or holds it.
func codeOption(option string) (inline string, next bool) {
	if code, is := strings.CutPrefix(option, "--command="); is {
		return code, false
	}
	if option == "--command" {
		return "", true
	}
	return "", strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "c")
}

// maxPath is the longest path that a file can be opened by.
const maxPath = 4096

// scripts are the names of files that the line may run, or that say what it runs.
func (f *findings) scripts() []string {
	var names []string
	var here, last string // where all cd, and the last alone, have led
	add := func(list ...string) {
		for _, name := range list {
			// Each is looked for on the disk.
			if f.budget.Spend(60 + (3*len(name)+len(here)+len(last))/8) {
				names = append(names, name, path.Join(here, name), path.Join(last, name))
			}
		}
	}
	reads := slices.ContainsFunc(f.programs, readsProgram)
	others := slices.ContainsFunc(f.programs, func(argv []string) bool { return !runsAlone(argv) })
	switch {
	case reads:
		add(f.inputs...)
	case others:
		add(orders(f.inputs)...)
	}
	for _, argv := range f.programs {
		if strings.Contains(argv[0], "/") {
			add(argv[0])
		}
		switch name := base(argv[0]); {
		case name == "cd" || name == "pushd":
			last = argv[len(argv)-1]
			if here = path.Join(here, last); len(here) > maxPath {
				here = ""
			}
		case name == "make":
			add(argv[1:]...)
			add(inFolders(argv[1:], "GNUmakefile", "makefile", "Makefile")...)
		case name == "npm" || name == "yarn" || name == "pnpm":
			add(inFolders(argv[1:], "package.json")...)
		case isLanguage(name):
			add(argv[1:]...)
			add(modules(argv[1:])...)
		case reads, runsText(name), runsOthers(name), name == "find", name == "go", name == "awk", name == "sed":
			add(argv[1:]...)
		case others:
			add(orders(argv[1:])...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// grows are the endings of files that are written to all the time.
var grows = strings.Fields(".log .jsonl .csv .tsv .db .sqlite .sqlite3 .pid .tmp")

// orders are the names in the arguments of a program whose files may say what it
// does, whatever their ending: pip install -r requirements.txt.
func orders(args []string) (names []string) {
	for _, a := range args {
		if _, value, is := strings.Cut(a, "="); is {
			a = value
		} else if len(a) > 2 && a[0] == '-' && a[1] != '-' {
			names = append(names, a[2:]) // -rrequirements.txt
		}
		names = append(names, a)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(grows, strings.ToLower(path.Ext(name))) })
}

// inFolders are the names of files here and in every folder that an argument may
// name, as make -C and npm --prefix do.
func inFolders(args []string, files ...string) []string {
	names := slices.Clone(files)
	for _, a := range args {
		if _, value, is := strings.Cut(a, "="); is {
			a = value
		}
		for _, file := range files {
			names = append(names, path.Join(strings.TrimPrefix(a, "-C"), file))
		}
	}
	return names
}

// modules are the files that python -m may mean.
func modules(args []string) []string {
	var names []string
	for _, a := range args {
		name := strings.ReplaceAll(strings.TrimPrefix(a, "-m"), ".", "/")
		names = append(names, name+".py", name+"/__main__.py")
	}
	return names
}

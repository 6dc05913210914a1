// Package program knows what programs do with their arguments: which of them run other
// programs or text, and which arguments make one run, load or write something that a
// pattern of the owner does not spell. It reads no files and runs nothing.
package program

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

	Downloaders = []string{"curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "lwp-request"}
)

// versioned is the version at the end of the name of a program.
var versioned = regexp.MustCompile(`[-.]?\d+(\.\d+)*$`)

// plainName is the name of a program without its folder and version.
func plainName(name string, among []string) string {
	name = path.Base(name)
	if slices.Contains(among, name) {
		return name
	}
	return versioned.ReplaceAllString(name, "")
}

// RunsOthers reports whether a program runs the command in its arguments.
func RunsOthers(name string) bool {
	return slices.Contains(wrappers, path.Base(name)) || strings.HasPrefix(path.Base(name), "ld-linux") || strings.HasPrefix(path.Base(name), "ld-musl")
}

// IsShell reports whether a program is a shell, in any version.
func IsShell(name string) bool { return slices.Contains(shells, plainName(name, shells)) }

// IsLanguage reports whether a program runs text of a language, in any version.
func IsLanguage(name string) bool { return slices.Contains(languages, plainName(name, languages)) }

// RunsText reports whether a command runs shell text that it is given.
func RunsText(name string) bool {
	return IsShell(name) || name == "eval" || name == "source" || name == "."
}

// ReadsProgram reports whether a command runs what it reads.
func ReadsProgram(argv []string) bool {
	for i, a := range argv {
		if i > 0 && !RunsOthers(argv[0]) {
			return false
		}
		switch {
		case IsShell(a), a == "source", a == ".":
			return true
		case IsLanguage(a):
			rest := argv[i+1:]
			return !slices.ContainsFunc(rest, func(o string) bool { return o != "-" })
		}
	}
	return false
}

// Codes are the shell texts in the arguments of a command.
func Codes(argv []string) []string {
	name := path.Base(argv[0])
	switch {
	case name == "eval":
		return []string{strings.Join(argv[1:], " ")}
	case IsShell(name), name == "su", name == "script", name == "runuser", name == "sg", name == "flock":
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

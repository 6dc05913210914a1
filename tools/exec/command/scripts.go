package command

import (
	"path"
	"slices"
	"strings"

	"klawbot/tools/exec/program"
)

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
	reads := slices.ContainsFunc(f.programs, program.ReadsProgram)
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
		switch name := path.Base(argv[0]); {
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
		case program.IsLanguage(name):
			add(argv[1:]...)
			add(modules(argv[1:])...)
		case reads, program.RunsText(name), program.RunsOthers(name), name == "find", name == "go", name == "awk", name == "sed":
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

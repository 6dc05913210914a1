package exec

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"klawbot/tools"
	"klawbot/tools/budget"
	"klawbot/tools/exec/command"
	"klawbot/tools/exec/host"
)

// view is a call of shell, checked.
type view struct {
	args shellArgs
	line command.Line
	mode Mode
	// dir is where it runs: an absolute path without links.
	dir string
	// listed says that the allow list has all of it.
	listed bool
	// harmless says that it was allowed for the files that it names, or some of it.
	harmless bool
	// allow is what the owner has put on the list.
	allow []command.Pattern
	// unlisted says what the list does not have, and why.
	unlisted string
	// binds identifies where it runs and what the files are that it may run.
	binds string
	// once says why an approval of it is never remembered; empty: it may be.
	once string
}

// look parses a call. A refusal is final: no approval overrides it.
func (s *Shell) look(arguments json.RawMessage) (v view, refusal *tools.Result) {
	if err := json.Unmarshal(arguments, &v.args); err != nil {
		return view{}, tools.Refused(tools.Validation, "arguments of shell: "+err.Error())
	}
	line, err := s.parse(v.args.Command)
	if err != nil {
		return view{}, tools.Refused(tools.Validation, err.Error())
	}
	if line.Blocked != "" {
		return view{}, tools.Refused(tools.Security, "Command blocked: "+line.Blocked+"; no approval allows it")
	}
	w, err := s.enter(v.args.Workdir)
	if err != nil {
		r := tools.Failed(err)
		return view{}, &r
	}
	defer w.root.Close()
	settings := s.config.Settings()
	v.line, v.mode, v.dir, v.allow = line, settings.Mode, w.dir, settings.Allow
	if v.mode != ModeFull && v.mode != ModeDeny {
		v.mode = ModeAllowlist
		v.listed, v.harmless, v.unlisted = listed(line, settings, w)
	}
	if !v.listed {
		v.binds = w.binds(line, s.config.Runner().Name())
		if line.RunsOthers {
			v.once = tools.UnknownFiles
		}
	}
	return v, nil
}

// parsed is a command line as it was parsed.
type parsed struct {
	text string
	line command.Line
	err  error
}

// parse parses a command line. The steps of one call do it several times, so the last
// line is kept.
func (s *Shell) parse(text string) (command.Line, error) {
	p := s.parsed.Load()
	if p == nil || p.text != text {
		line, err := command.Parse(text)
		p = &parsed{text, line, err}
		s.parsed.Store(p)
	}
	return p.line, p.err
}

// listed reports whether the approved list has all of a line, and whether it has
// some of it for the files that it names; else it says what it does not have.
func listed(line command.Line, settings ShellSettings, w where) (ok, harmless bool, unlisted string) {
	if line.Plain == nil {
		return false, false, oneLine(line.Text) + " (" + line.More + ")"
	}
	for _, p := range line.Plain {
		some, unlisted := w.listed(p, settings, oneLine(line.Text))
		if unlisted != "" {
			return false, false, unlisted
		}
		harmless = harmless || some
	}
	return true, harmless, ""
}

// listed says what of a pipeline the approved list does not have, "" when it has
// all, and whether it has some of it for the files that it names. shown is the line.
func (w where) listed(p command.Pipeline, settings ShellSettings, shown string) (harmless bool, unlisted string) {
	for i, prog := range p.Programs {
		_, away, is := w.owners(settings.Allow, p, i)
		if is && away == "" {
			continue
		}
		why := ""
		if settings.Harmless {
			if why = w.harmless(prog.Argv); why == "" {
				harmless = true
				continue
			}
		}
		if is {
			why = oneLine(away) + " is outside the workspace"
		}
		if unlisted = named(prog.Argv, shown); why != "" {
			unlisted += " (" + why + ")"
		}
		return false, unlisted
	}
	return harmless, ""
}

// owners reports whether a pattern of the owner has a program of a pipeline, with
// the arguments that the owner has spelled, and which of the others names something
// outside the workspace: the model chose it, so a person is asked.
func (w where) owners(patterns []command.Pattern, p command.Pipeline, i int) (spelled []string, away string, is bool) {
	argv := p.Programs[i].Argv
	for _, a := range patterns {
		if !a.Allows(argv, i > 0) {
			continue
		}
		var free []string
		spelled, free = a.Split(argv)
		is = true
		if away = w.away(free); away == "" {
			break
		}
	}
	return spelled, away, is
}

// named names a part of a line that is not allowed.
func named(argv []string, line string) string {
	if part := oneLine(strings.Join(argv, " ")); part != line {
		return part + " in: " + line
	}
	return line
}

var (
	errNoWorkspace = &tools.Refusal{Kind: tools.NotFound, Text: "No workspace set"}
	errOutside     = &tools.Refusal{Kind: tools.Security, Text: "Access denied: path outside workspace"}
)

// where is the folder that a command runs in.
type where struct {
	// root is that folder's workspace.
	root *os.Root
	// names are the ways in which the workspace's path may be written.
	names []string
	// below is the folder, seen from the workspace, and dir its path without
	// links.
	below, dir string
	hardlinks  bool
	// files is how many files may still be checked.
	files *budget.Budget
}

// enter resolves the folder that a command is to run in. The caller closes root.
func (s *Shell) enter(workdir string) (w where, err error) {
	root, err := os.OpenRoot(s.config.Workspace)
	if err != nil || s.config.Workspace == "" {
		return w, errNoWorkspace
	}
	defer func() {
		if err != nil {
			root.Close()
		}
	}()
	real, err := host.RealPath(s.config.Workspace)
	if err != nil {
		return w, errNoWorkspace
	}
	w = where{root: root, names: []string{filepath.Clean(s.config.Workspace), real}, hardlinks: s.config.AllowHardlinks(), files: budget.Of(maxBelow)}
	if workdir == "" {
		workdir = "."
	}
	if strings.ContainsRune(workdir, 0) || len(workdir) > 4096 {
		return w, &tools.Refusal{Kind: tools.Validation, Text: "workdir is no path"}
	}
	if w.below, err = w.inside(workdir); err != nil {
		return w, err
	}
	sub, err := root.OpenRoot(w.below)
	if err != nil {
		if info, err := root.Stat(w.below); err == nil && !info.IsDir() {
			return w, &tools.Refusal{Kind: tools.Validation, Text: "workdir is not a directory: " + oneLine(workdir)}
		}
		return w, failedDir(err, workdir)
	}
	defer sub.Close()
	if w.dir, err = pinned(sub, real, w.below); err != nil {
		return w, err
	}
	w.below, err = filepath.Rel(real, w.dir) // without links
	return w, err
}

// inside is a path as it is seen from the workspace. An absolute one counts when
// the workspace is its beginning. Links are another matter.
func (w where) inside(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return name, nil
	}
	for _, dir := range w.names {
		if rest, is := strings.CutPrefix(name+"/", strings.TrimSuffix(dir, "/")+"/"); is {
			if rest = strings.Trim(rest, "/"); rest == "" {
				rest = "."
			}
			return rest, nil
		}
	}
	return "", errOutside
}

// pinned is the path of an open folder below the workspace, without links.
func pinned(sub *os.Root, workspace, below string) (string, error) {
	dir, err := filepath.EvalSymlinks(workspace + "/" + below) // not Join: what follows a link is another folder
	if err != nil {
		return "", errOutside
	}
	if dir != workspace && !strings.HasPrefix(dir, strings.TrimSuffix(workspace, "/")+"/") {
		return "", errOutside
	}
	open, err := sub.Stat(".")
	if err != nil {
		return "", errOutside
	}
	if there, err := os.Stat(dir); err != nil || !os.SameFile(open, there) {
		return "", errOutside // a link was moved
	}
	return dir, nil
}

// failedDir says why a folder cannot be entered.
func failedDir(err error, workdir string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tools.Refusal{Kind: tools.NotFound, Text: "directory not found: " + oneLine(workdir)}
	case errors.Is(err, fs.ErrPermission):
		return &tools.Refusal{Kind: tools.Execution, Text: "permission denied: " + oneLine(workdir)}
	}
	return errOutside
}

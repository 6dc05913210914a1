package file

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/injection"
)

// Steering names the files of the workspace that steer the bot in every chat: they are part
// of the system prompt or schedule runs.
func Steering() []string {
	return []string{"HEARTBEAT.md", "AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "USER.md", skills}
}

// skills is the directory of skills in the workspace.
const skills = "skills"

// maxSkills bounds the skills that are checked for links.
const maxSkills = 200

// layerSteering is the policy layer of these files.
const layerSteering = "protected files"

// permitWrite asks an owner before a file that steers the bot changes. An injection is
// refused: every prompt would contain it.
func (f *files) permitWrite(c tools.Call, a tools.Autonomy) tools.Decision {
	var args struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		NewStr  string `json:"new_str"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tools.Decision{Verdict: tools.Deny, Layer: layerSteering, Reason: "invalid arguments"}
	}
	p, err := f.locate(args.Path)
	if err != nil {
		return tools.Decision{Verdict: tools.Allow} // the call itself says what is wrong
	}
	defer p.root.Close()
	if !steers(p) {
		return tools.Decision{Verdict: tools.Allow}
	}
	d := c.Steering(a, layerSteering, p.shown)
	look := injection.Text
	if d.Verdict != tools.Allow {
		look = injection.Write
	}
	if v := look(args.Content + args.NewStr); v.Level == injection.Block {
		return tools.Decision{Verdict: tools.Deny, Layer: layerSteering,
			Reason: "the text for " + p.shown + " looks like a prompt injection (" + strings.Join(v.Rules(), ", ") + "), so it would be left out of prompts"}
	}
	return d
}

// permitUndo asks an owner before an undo of a file that steers the bot.
func (f *files) permitUndo(c tools.Call, a tools.Autonomy) tools.Decision {
	var args undoArgs
	if json.Unmarshal(c.Arguments, &args) != nil || !reverts(c.Arguments) || c.Changelog == nil {
		return tools.Decision{Verdict: tools.Allow} // the call itself says what is wrong
	}
	all, err := c.Changelog.Changes(context.Background())
	if err != nil {
		return tools.Decision{Verdict: tools.Allow}
	}
	chosen, err := newHistory(all, c.Chat).choose(args)
	if err != nil {
		return tools.Decision{Verdict: tools.Allow}
	}
	for _, change := range chosen {
		p, err := f.locate(change.Path)
		if err != nil {
			continue
		}
		guarded := steers(p)
		p.root.Close()
		if guarded {
			return c.Steering(a, layerSteering, p.shown)
		}
	}
	return tools.Decision{Verdict: tools.Allow}
}

// steers reports whether a file steers the bot, by its name or by a link to it.
func steers(p place) bool {
	if named(p.name) || named(p.shown) {
		return true
	}
	leads := func(name string) bool { return leadsTo(p.root, name, p.name) }
	return slices.ContainsFunc(Steering(), leads) || slices.ContainsFunc(skillPaths(p.root), leads)
}

// named reports whether a path is a steering name or below skills, in any spelling.
func named(name string) bool {
	first, rest, below := strings.Cut(path.Clean(name), "/")
	first = plainName(first)
	return slices.ContainsFunc(Steering(), func(s string) bool {
		return strings.EqualFold(first, s) && (s == skills || !below || rest == "")
	}) || strings.EqualFold(first, "HEARTB~1.MD") && !below
}

// leadsTo reports whether a name is a link to a file, or to a directory above it.
func leadsTo(root *os.Root, name, to string) bool {
	real, err := resolve(root, name)
	return err == nil && real != name && (to == real || strings.HasPrefix(to, real+"/"))
}

// skillPaths are the directories and instruction files of skills, which may be links.
func skillPaths(root *os.Root) (all []string) {
	entries, err := fs.ReadDir(root.FS(), skills)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), maxSkills)] {
		folder := path.Join(skills, e.Name())
		all = append(all, folder, path.Join(folder, "SKILL.md"))
	}
	return all
}

// SteeringPaths are the names of Steering in a workspace and the targets of links with
// these names. The sandbox makes them read-only.
func SteeringPaths(workspace string) []string {
	all := Steering()
	root, err := openWorkspace(workspace)
	if err != nil {
		return all
	}
	defer root.Close()
	for _, name := range append(Steering(), skillPaths(root)...) {
		if real, err := resolve(root, name); err == nil && real != name && real != "." && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/tools/guide"
)

// skillDirs are the folders of the skills that lie on the disk.
func skillDirs(c Base) map[workspace.Source]string {
	return map[workspace.Source]string{
		workspace.SourceWorkspace: filepath.Join(c.Workspace, "skills"),
		workspace.SourceData:      filepath.Join(c.Dir, "skills"),
	}
}

// modelIn is the model that answers in a chat, named in its text form.
func (e *Engine) modelIn(ctx context.Context, chat string) (string, settings.Model) {
	var chosen string
	if id, err := gateway.ParseChatID(chat); err == nil {
		if s, err := e.session(ctx, gateway.Address{Chat: id}); err == nil {
			chosen = s.Model
		}
	}
	return e.settings().Models.For(chosen)
}

// withoutSkills takes the texts of skills out of the history: a skill counts in
// the turn that loads it, later ones only know that it was loaded.
func (e *Engine) withoutSkills(history []store.Message) []store.Message {
	names := map[string]string{}
	for _, m := range history {
		for _, c := range m.Body.Calls() {
			if e.isLoad(c.Name) {
				names[c.ID] = skillOf(c.Arguments)
			}
		}
	}
	if len(names) == 0 {
		return history
	}
	kept := slices.Clone(history)
	for i, m := range kept {
		kept[i].Body.Blocks = forgetful(m.Body.Blocks, names)
	}
	return kept
}

// isLoad reports whether a name that a model wrote is that of skill_load.
func (e *Engine) isLoad(name string) bool {
	t, _, ok := e.executor.Registry().Find(name)
	return ok && t.Spec().Name == guide.LoadTool
}

// skillOf is the skill that a call asked for.
func skillOf(arguments string) string {
	var call struct{ Name string }
	if err := json.Unmarshal([]byte(arguments), &call); err != nil {
		return "" // mended by the tool, not worth it here
	}
	return call.Name
}

// forgetful are blocks in which the results of the named calls are short.
func forgetful(blocks []llm.Block, names map[string]string) []llm.Block {
	short := slices.Clone(blocks)
	for i, b := range short {
		if b.Result == nil || b.Result.Failed {
			continue
		}
		if name, ok := names[b.Result.CallID]; ok {
			r := *b.Result
			r.Text = fmt.Sprintf("skill '%s' was loaded", name)
			short[i].Result = &r
		}
	}
	return short
}

// Skill is a folder of a skill as an admin sees it.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Source is "workspace", "data" or "built-in".
	Source string `json:"source"`
	// Path is the folder on the disk, or its name in the program.
	Path string `json:"path"`
	// Fault says what is wrong, empty when all is well.
	Fault string `json:"fault,omitempty"`
}

// Skills lists the skills that the bot can use, by name.
func (d *Data) Skills() ([]Skill, error) {
	list, err := d.skills.List()
	return d.described(list), err
}

// CheckSkills lists every folder of a skill, with what is wrong in it.
func (d *Data) CheckSkills() ([]Skill, error) {
	list, err := d.skills.Check()
	return d.described(list), err
}

func (d *Data) described(list []workspace.Skill) []Skill {
	all := make([]Skill, len(list))
	for i, k := range list {
		all[i] = Skill{Name: k.Name, Description: k.Description, Source: string(k.Source), Path: k.Folder, Fault: k.Fault}
		if dir := d.skillDirs[k.Source]; dir != "" {
			all[i].Path = filepath.Join(dir, k.Folder)
		}
	}
	return all
}

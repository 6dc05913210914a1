package data

import (
	"path/filepath"

	"klawbot/engine/internal/workspace"
)

// skillDirs are the folders of the skills that lie on the disk.
func skillDirs(c Config) map[workspace.Source]string {
	return map[workspace.Source]string{
		workspace.SourceWorkspace: filepath.Join(c.Workspace, "skills"),
		workspace.SourceData:      filepath.Join(c.Dir, "skills"),
	}
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

package workspace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/workspace"
	"klawbot/skills"
)

// shelves are the three places of skills.
type shelves struct {
	t               *testing.T
	workspace, data string
	log             bytes.Buffer
	*workspace.Skills
}

func newShelves(t *testing.T, builtIn fs.FS) *shelves {
	base := t.TempDir()
	s := &shelves{t: t, workspace: filepath.Join(base, "ws"), data: filepath.Join(base, "data")}
	for _, dir := range []string{s.workspace, s.data} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Skills = workspace.NewSkills(s.workspace, s.data, builtIn, slog.New(slog.NewTextHandler(&s.log, nil)))
	return s
}

// put writes the SKILL.md of a skill below one of the places.
func (s *shelves) put(place, folder, text string) {
	s.t.Helper()
	dir := filepath.Join(place, "skills", folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func skill(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n\nThe steps of %s.\n", name, description, name)
}

// lists wants "name: description (source)" of every skill that can be used.
func (s *shelves) lists(want ...string) {
	s.t.Helper()
	list, err := s.List()
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, k := range list {
		got = append(got, fmt.Sprintf("%s: %s (%s)", k.Name, k.Description, k.Source))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Error(diff)
	}
}

// faults wants "source/folder: fault" of every skill.
func (s *shelves) faults(want ...string) {
	s.t.Helper()
	list, err := s.Check()
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, k := range list {
		got = append(got, fmt.Sprintf("%s/%s: %s", k.Source, k.Folder, k.Fault))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Error(diff)
	}
}

func TestSkillsDiscoveredFromBothWorkspaceAndDataDirs(t *testing.T) {
	s := newShelves(t, fstest.MapFS{"inside/SKILL.md": {Data: []byte(skill("inside", "Built in."))}})
	s.put(s.workspace, "tea", skill("tea", "Brews tea."))
	s.put(s.data, "план", skill("план", ">\n  Составляет план\n  на неделю."))
	s.lists("inside: Built in. (built-in)", "tea: Brews tea. (workspace)", "план: Составляет план на неделю. (data)")
}

func TestWorkspaceSkillTakesPrecedenceOverDataSkill(t *testing.T) {
	s := newShelves(t, fstest.MapFS{"tea/SKILL.md": {Data: []byte(skill("tea", "Built in."))}})
	s.lists("tea: Built in. (built-in)")
	s.put(s.data, "tea", skill("tea", "Of the data directory."))
	s.lists("tea: Of the data directory. (data)")
	s.put(s.workspace, "tea", skill("tea", "Of the workspace."))
	s.lists("tea: Of the workspace. (workspace)")
	text, found, err := s.Load("tea")
	if err != nil || !found || text != skill("tea", "Of the workspace.") {
		t.Errorf("%q, %v, %v", text, found, err)
	}
}

func TestSkillsAreReadAgainWhenTheyChange(t *testing.T) {
	s := newShelves(t, nil)
	s.lists()
	s.put(s.workspace, "tea", skill("tea", "Brews tea."))
	s.lists("tea: Brews tea. (workspace)")
	s.put(s.workspace, "tea", skill("tea", "Brews good tea."))
	s.lists("tea: Brews good tea. (workspace)")
	if err := os.RemoveAll(filepath.Join(s.workspace, "skills", "tea")); err != nil {
		t.Fatal(err)
	}
	s.lists()
	if _, found, err := s.Load("tea"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestFaultySkillsAreReported(t *testing.T) {
	s := newShelves(t, nil)
	s.put(s.workspace, "a-empty", "")
	s.put(s.workspace, "b-open", "---\nname: b-open\n")
	s.put(s.workspace, "c-nameless", "---\ndescription: d\n---\n")
	s.put(s.workspace, "d-mute", "---\nname: d-mute\n---\n")
	s.put(s.workspace, "e-list", "---\nname: [e]\ndescription: d\n---\n")
	s.put(s.workspace, "f-path", "---\nname: ../../etc\ndescription: d\n---\n")
	s.put(s.workspace, "g-long", "---\nname: g-long\ndescription: d\nmore: "+strings.Repeat("x", 17<<10)+"\n---\n")
	s.put(s.workspace, "h-other", skill("tea", "Works."))
	s.put(s.workspace, "i-again", skill("tea", "Never seen."))
	s.put(s.workspace, "j-windows", strings.ReplaceAll("\uFEFF"+skill("j-windows", "Fine."), "\n", "\r\n"))
	if err := os.Mkdir(filepath.Join(s.workspace, "skills", "k-bare"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.lists("j-windows: Fine. (workspace)", "tea: Works. (workspace)")
	s.faults(
		"workspace/a-empty: does not begin with a frontmatter (a line --- and then name and description)",
		"workspace/b-open: the frontmatter does not end (a second line --- is missing)",
		"workspace/c-nameless: the frontmatter has no name",
		"workspace/d-mute: the frontmatter has no description",
		"workspace/e-list: the frontmatter is not YAML with two texts: unmarshal errors",
		"workspace/f-path: the name may have up to 64 letters, digits, - and _",
		"workspace/g-long: the frontmatter is longer than 16 KiB",
		`workspace/h-other: is called "tea" but its directory "h-other"; give both the same name`,
		`workspace/i-again: is called "tea" but its directory "i-again"; give both the same name`,
		"workspace/j-windows: ",
		"workspace/k-bare: has no SKILL.md",
	)
	s.lists("j-windows: Fine. (workspace)", "tea: Works. (workspace)")
	if n := strings.Count(s.log.String(), "\n"); n != 10 {
		t.Errorf("%d lines were logged, not each fault once:\n%s", n, s.log.String())
	}
}

func TestDuplicateSkillNameIsAFault(t *testing.T) {
	s := newShelves(t, nil)
	s.put(s.workspace, "first", skill("second", "Wins."))
	s.put(s.workspace, "second", skill("second", "Loses."))
	s.lists("second: Wins. (workspace)")
	s.faults(
		`workspace/first: is called "second" but its directory "first"; give both the same name`,
		"workspace/second: has the name of the skill in the directory first",
	)
}

func TestSkillsStayInTheirFolder(t *testing.T) {
	s := newShelves(t, nil)
	outside := filepath.Join(filepath.Dir(s.workspace), "out")
	s.put(outside, "secret", skill("secret", "d"))
	target := filepath.Join(outside, "skills", "secret")
	s.put(s.workspace, "own", skill("own", "Stays."))
	for _, name := range []string{"linkedfile", "pipe", "hard"} {
		if err := os.Mkdir(filepath.Join(s.workspace, "skills", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(s.workspace, "skills", name) }
	for _, err := range []error{
		os.Symlink(target, in("linkedfolder")),
		os.Symlink(filepath.Join(target, "SKILL.md"), in("linkedfile/SKILL.md")),
		os.Link(filepath.Join(target, "SKILL.md"), in("hard/SKILL.md")),
		syscall.Mkfifo(in("pipe/SKILL.md"), 0o644),
		os.Symlink("own", in("alias")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.lists("own: Stays. (workspace)")
	if text, found, _ := s.Load("secret"); found || text != "" {
		t.Errorf("loaded %q", text)
	}
}

func TestSkillsWithoutAWorkspace(t *testing.T) {
	s := workspace.NewSkills(filepath.Join(t.TempDir(), "gone"), t.TempDir(), skills.FS, slog.New(slog.DiscardHandler))
	if _, err := s.List(); !errors.Is(err, workspace.ErrNoWorkspace) {
		t.Errorf("list: %v", err)
	}
	if _, _, err := s.Load("tidy-notes"); !errors.Is(err, workspace.ErrNoWorkspace) {
		t.Errorf("load: %v", err)
	}
	if got := s.Index(); got != "" {
		t.Errorf("index %q", got)
	}
}

func TestBuiltInSkillsAreValid(t *testing.T) {
	s := newShelves(t, skills.FS)
	all, err := s.Check()
	if err != nil || len(all) < 3 {
		t.Fatalf("%d skills, %v", len(all), err)
	}
	for _, k := range all {
		text, found, err := s.Load(k.Name)
		if err != nil || !found || k.Fault != "" {
			t.Errorf("%s: found %v, %v, fault %q", k.Folder, found, err, k.Fault)
		}
		if len(text) < 500 || len(text) > 8000 || !strings.Contains(k.Description, "Use when") {
			t.Errorf("%s: %d bytes, %s", k.Folder, len(text), k.Description)
		}
	}
}

func TestIndexDescribesSkillsInFewWords(t *testing.T) {
	s := newShelves(t, nil)
	if got := s.Index(); got != "" {
		t.Errorf("without skills: %q", got)
	}
	for i := range 15 {
		name := fmt.Sprintf("skill%02d", i)
		s.put(s.workspace, name, skill(name, `"Use for\nnumber `+fmt.Sprint(i)+`."`))
	}
	all := s.Index()
	if !strings.HasPrefix(all, "## Skills\n\n") || !strings.Contains(all, "\n- skill00: Use for number 0\n- skill01: Use for number 1\n") || strings.Contains(all, "skill_list") {
		t.Errorf("15 skills: %s", all)
	}
	s.put(s.workspace, "a-first", skill("a-first", "Does one thing. Use when somebody wants that."))
	s.put(s.workspace, "a-second", skill("a-second", strings.Repeat("so many words ", 5)))
	more := s.Index()
	if !strings.Contains(more, "\n- a-first: Does one thing\n- a-second: so many words so many words so many words so many words …\n") || !strings.HasSuffix(more, "\n2 more: skill_list") {
		t.Errorf("17 skills: %s", more)
	}
	if more != s.Index() {
		t.Error("the index is not stable")
	}
}

func TestLongSkillIsRefused(t *testing.T) {
	s := newShelves(t, nil)
	s.put(s.workspace, "long", skill("long", "d")+strings.Repeat("x", 1<<20))
	if _, found, err := s.Load("long"); found || err == nil || !strings.Contains(err.Error(), "larger than 1024 KiB") {
		t.Errorf("found %v, %v", found, err)
	}
}

// FuzzSkill wants that no SKILL.md breaks the index or gets past the form of a
// line in the prompt.
func FuzzSkill(f *testing.F) {
	for _, text := range []string{skill("tea", "Brews tea."), "---\nname: &a [*a]\n---\n", "---\nname: \"a\\nb\"\ndescription: |\n  x\n  ## y\n---", "---\n---\n", "\uFEFF---\r\nname: x\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := workspace.NewSkills(t.TempDir(), "", fstest.MapFS{"x/SKILL.md": {Data: []byte(text)}}, slog.New(slog.DiscardHandler))
		list, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			if k.Name == "" || k.Description == "" || strings.ContainsAny(k.Name+k.Description, "\n\r\x00") || strings.Contains(k.Name, "/") {
				t.Errorf("%q: %q", k.Name, k.Description)
			}
		}
	})
}

// TestSkillsThatLookLikeInjectionsAreNotUsed, whether it is their description or
// what the model is to follow.
func TestSkillsThatLookLikeInjectionsAreNotUsed(t *testing.T) {
	s := newShelves(t, nil)
	s.put(s.workspace, "a", skill("a", override))
	s.put(s.workspace, "b", skill("b", "Fine.")+override)
	s.put(s.data, "c", skill("c", "Fine.")+override)
	s.put(s.workspace, "d", skill("d", "Fine."))
	s.lists("d: Fine. (workspace)")
	s.faults("workspace/a: looks like an injection (override)", "workspace/b: looks like an injection (override)", "workspace/d: ", "data/c: looks like an injection (override)")
	if _, found, err := s.Load("b"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if n := strings.Count(s.log.String(), "looks like"); n != 3 {
		t.Errorf("%d lines were logged, not each fault once:\n%s", n, s.log.String())
	}
}

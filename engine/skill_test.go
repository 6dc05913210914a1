package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
)

// put writes a file of the workspace.
func (h *house) put(name, content string) {
	h.t.Helper()
	name = filepath.Join(h.workspace(), name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

const teaSkill = "---\nname: tea\ndescription: Brews tea. Use when somebody is thirsty.\n---\n\nBoil the water first.\n"

// TestSkillCountsOnlyInTheTurnThatLoadsIt lets the model load a skill by its
// alias and looks at what it sees then and in the next turn.
func TestSkillCountsOnlyInTheTurnThatLoadsIt(t *testing.T) {
	t.Parallel() // it mostly waits
	h := build(t)
	h.put("skills/tea/SKILL.md", teaSkill)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if !strings.Contains(r.System(), "\n- tea: Brews tea") {
			return modeltest.Text("no index")
		}
		if r.Last().Role == "tool" || said(r) != "tea please" {
			return modeltest.Text("seen: " + strings.Join(results(r), " | "))
		}
		return modeltest.CallTool("skill", map[string]string{"name": "tea"})
	})
	h.start()
	h.says(alice, "tea please")
	whole := "seen: " + strings.TrimSpace(teaSkill)
	h.showsTrimmed(alice, whole)
	h.says(alice, "more")
	h.showsTrimmed(alice, whole, "seen: skill 'tea' was loaded")
	h.restart()
	h.says(alice, "and more")
	h.showsTrimmed(alice, whole, "seen: skill 'tea' was loaded", "seen: skill 'tea' was loaded")
}

// showsTrimmed is shows for texts whose blanks at the end do not matter.
func (h *house) showsTrimmed(chat int64, want ...string) {
	h.t.Helper()
	trimmed := func() []string {
		texts := h.messenger.texts(chat)
		for i := range texts {
			texts[i] = strings.TrimSpace(texts[i])
		}
		return texts
	}
	if !h.messenger.wait(10*time.Second, func() bool { return slices.Equal(trimmed(), want) }) {
		h.t.Fatalf("chat %d shows %q, want %q", chat, trimmed(), want)
	}
}

// results are the results of tools in a request.
func results(r modeltest.Request) []string {
	var all []string
	for _, m := range r.Messages {
		if m.Role == "tool" {
			all = append(all, m.Text())
		}
	}
	return all
}

func TestNewSkillIsInTheNextPrompt(t *testing.T) {
	h := build(t)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(r.System(), "- tea: ") {
			return modeltest.Text("there is tea")
		}
		return modeltest.Text("nothing")
	})
	h.start()
	h.says(alice, "what is there?")
	h.shows(alice, "nothing")
	h.put("skills/tea/SKILL.md", teaSkill)
	h.says(alice, "and now?")
	h.shows(alice, "nothing", "there is tea")
}

func TestSkillsCommandNeedsNoModel(t *testing.T) {
	h := build(t)
	h.put("skills/tea/SKILL.md", teaSkill)
	h.settings.Models.Default = ""
	h.start()
	h.says(bob, "/skills")
	h.shows(bob, "[no model]\n- tea: Brews tea. Use when somebody is thirsty.")
}

package workspace_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/workspace"
	template "klawbot/workspace-template"
)

func TestParseHeartbeat(t *testing.T) {
	mail := workspace.Beat{Name: "Mail", Cron: "0 9 * * *", Message: "Look for mail."}
	for name, c := range map[string]struct {
		text string
		want workspace.Heartbeat
	}{
		"empty":                    {"", workspace.Heartbeat{}},
		"heartbeat-with-bom":       {"\ufeff# Tasks\n<!-- none -->\n", workspace.Heartbeat{}},
		"heartbeat-empty-list":     {"# Tasks\n- [ ]\n- \n---\n", workspace.Heartbeat{}},
		"other empty lists":        {"Tasks\n=====\n* [x]\n1.\n2) [ ]\n+\n> - [ ]\n***\n___\n\u200b\n\u00a0\n- [ ] <!-- later -->\n", workspace.Heartbeat{}},
		"a template in a fence":    {"```markdown\n# Keep this file empty to skip the heartbeat.\n```\n~~~\n~~~\n", workspace.Heartbeat{}},
		"front matter":             {"---\nsummary: \"a template\"\nread_when:\n  - setting up\n---\n# Tasks\n", workspace.Heartbeat{}},
		"text between rules":       {"---\nMail: look for it.\n---\n", workspace.Heartbeat{Text: "---\nMail: look for it.\n---"}},
		"comments as links":        {"[//]: # (later: mail)\n[comment]: <> (nothing)\n", workspace.Heartbeat{}},
		"empty lines of HTML":      {"<br>\n&nbsp;\n- <br/>\n", workspace.Heartbeat{}},
		"empty boxes as signs":     {"☐\n- ☐ \n□\n⬜️\n", workspace.Heartbeat{}},
		"ticked boxes":             {"- [x] water\n  the garden\n* [X] mail\n1. [x] disk\n✅ pay\n", workspace.Heartbeat{}},
		"a label above boxes":      {"Tasks:\n- [ ]\n- [ ] \n**Later:**\n- [x] mail\n", workspace.Heartbeat{}},
		"none":                     {"# Tasks\nNone\n", workspace.Heartbeat{}},
		"none in a list":           {"Tasks:\n- none.\n- [ ] N/A\n(no tasks yet)\nTasks: none\n- нет задач\n_Пока ничего_\n", workspace.Heartbeat{}},
		"a box below a ticked one": {"- [x] water\n- [ ] mail\n", workspace.Heartbeat{Text: "- [x] water\n- [ ] mail"}},
		"below a ticked box":       {"- [x] garden\n  - [ ] water\nLook for mail.\n", workspace.Heartbeat{Text: "- [x] garden\n  - [ ] water\nLook for mail."}},
		"a task below a label":     {"Tasks:\n- mail\n", workspace.Heartbeat{Text: "Tasks:\n- mail"}},
		"none of something":        {"None of the disks may be full\n", workspace.Heartbeat{Text: "None of the disks may be full"}},
		"nothing forgotten":        {"- Нет ли писем?\n", workspace.Heartbeat{Text: "- Нет ли писем?"}},
		"an open sub-task":         {"- [x] garden\n  - [ ] water the roses\n", workspace.Heartbeat{Text: "- [x] garden\n  - [ ] water the roses"}},
		"a word behind such a box": {"☐ water\n", workspace.Heartbeat{Text: "☐ water"}},
		"headings with tabs":       {" # Tasks\r#\tMore\r\n", workspace.Heartbeat{}},
		"a word behind a box":      {"# Tasks\n- [ ] water\n", workspace.Heartbeat{Text: "- [ ] water"}},
		"a sign behind a box":      {"- [ ] ☕\n", workspace.Heartbeat{Text: "- [ ] ☕"}},
		"a word behind a number":   {"1. вода\n", workspace.Heartbeat{Text: "1. вода"}},
		"text above a rule":        {"Look around.\n---\n", workspace.Heartbeat{Text: "Look around.\n---"}},
		"a task after a mark":      {"\ufeff## Mail\n- Cron: 0 9 * * *\n- Message: Look for mail.\n", workspace.Heartbeat{Tasks: []workspace.Beat{mail}}},
		"a message of empty boxes": {"## Mail\n- Cron: @daily\n- Message:\n  - [ ]\n", workspace.Heartbeat{Faults: []string{`task "Mail" has no Message`}}},
		"blank":                    {" \n\t\n", workspace.Heartbeat{}},
		"headings":                 {"# Heartbeat\n\n### Tasks\n", workspace.Heartbeat{}},
		"comment":                  {"# Heartbeat\n<!-- ## Mail\n- Cron: 0 9 * * *\n- Message: m\n-->\n", workspace.Heartbeat{}},
		"a comment without an end": {"<!-- ## Mail\n- Cron: 0 9 * * *\n- Message: m\n", workspace.Heartbeat{}},
		"free text":                {"# Heartbeat\n\nLook whether the disk is full.\n- and the mail\n", workspace.Heartbeat{Text: "Look whether the disk is full.\n- and the mail"}},
		"one":                      {"# Heartbeat\nWhat I look after.\n\n## Mail\n- Cron: 0 9 * * *\n- Message: Look for mail.\n", workspace.Heartbeat{Tasks: []workspace.Beat{mail}}},
		"many": {"## Mail\n- Cron: 0 9 * * *\n- Message: Look for mail.\n\n## Disk\n- Message: Look at the disk.\n- Cron: 0 0 8 ? * MON\n- Model: small\n- InjectInto: telegram_11\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{mail, {Name: "Disk", Cron: "0 0 8 ? * MON", Message: "Look at the disk.", Model: "small", InjectInto: "telegram_11"}}}},
		"spelled otherwise": {"## Mail ##\r\n* **cron**: `0 9 * * *`\r\n+ MESSAGE : Look for mail.\r\n- inject into: \"telegram_11\"\r\n- model:\r\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{{Name: "Mail", Cron: "0 9 * * *", Message: "Look for mail.", InjectInto: "telegram_11"}}}},
		"OpenClaw's five fields": {"## Mail\n- Cron: */30 9-17 * * 1-5\n- Message: Look for mail.\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{{Name: "Mail", Cron: "*/30 9-17 * * 1-5", Message: "Look for mail."}}}},
		"a message of several lines": {"## Mail\n- Cron: 0 9 * * *\n- Message: Look for mail.\n  Report:\n  - the sender\n\n  Be brief.\n- Model: small\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{{Name: "Mail", Cron: "0 9 * * *", Message: "Look for mail.\nReport:\n- the sender\n\nBe brief.", Model: "small"}}}},
		"no cron":    {"## Mail\n- Message: m\n", workspace.Heartbeat{Faults: []string{`task "Mail" has no Cron`}}},
		"no message": {"## Mail\n- Cron: @daily\n- Message:\n\n", workspace.Heartbeat{Faults: []string{`task "Mail" has no Message`}}},
		"no name":    {"## \n- Cron: @daily\n- Message: m\n", workspace.Heartbeat{Faults: []string{"a task has no name"}}},
		"twice": {"## Mail\n- Cron: 0 9 * * *\n- Message: Look for mail.\n## Mail\n- Cron: @daily\n- Message: m\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{mail}, Faults: []string{`there are two tasks "Mail"`}}},
		"a field twice": {"## Mail\n- Cron: 0 9 * * *\n- Cron: @daily\n- Message: Look for mail.\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{mail}, Faults: []string{`task "Mail" has cron twice`}}},
		"something else": {"## Mail\nEvery day:\n- Cron: 0 9 * * *\n- Every: 30m\n- Message: Look for mail.\n",
			workspace.Heartbeat{Tasks: []workspace.Beat{mail}, Faults: []string{`task "Mail": cannot read "Every day:"`, `task "Mail": cannot read "- Every: 30m"`}}},
	} {
		if diff := cmp.Diff(c.want, workspace.ParseHeartbeat(c.text)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTemplateHeartbeatIsOff: a fresh workspace does nothing by itself, and what
// its file shows as an example is one.
func TestTemplateHeartbeatIsOff(t *testing.T) {
	source, err := template.FS.ReadFile(workspace.HeartbeatFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(workspace.Heartbeat{}, workspace.ParseHeartbeat(string(source))); diff != "" {
		t.Error(diff)
	}
	example := strings.NewReplacer("<!--", "", "-->", "").Replace(string(source))
	if got := workspace.ParseHeartbeat(example); len(got.Tasks) != 1 || len(got.Faults) != 0 {
		t.Errorf("the example is %+v", got)
	}
}

func TestHeartbeatIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	w := workspace.Open(dir, slog.New(slog.DiscardHandler))
	if got := w.Heartbeat(); len(got.Tasks) != 0 || got.Text != "" {
		t.Errorf("without a file: %+v", got)
	}
	for _, name := range []string{"Mail", "Mails"} {
		text := "## " + name + "\n- Cron: @daily\n- Message: m\n"
		if err := os.WriteFile(filepath.Join(dir, workspace.HeartbeatFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := w.Heartbeat(); len(got.Tasks) != 1 || got.Tasks[0].Name != name {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzParseHeartbeat(f *testing.F) {
	f.Add("## Mail\n- Cron: 0 9 * * *\n- Message: m\n  more\n- Model: small\n- InjectInto: telegram_11\n")
	f.Add("# H\n<!-- x -->\ntext\n##\n## \n- Cron:\n")
	f.Add("## a\n- Message:\n\n- Message: x\n- Cron: `@daily`\n## a\n<!--")
	f.Fuzz(func(t *testing.T, text string) {
		h := workspace.ParseHeartbeat(text)
		if len(h.Tasks) > 0 && h.Text != "" {
			t.Errorf("%q has tasks and a text", text)
		}
		names := map[string]bool{}
		var again strings.Builder
		for _, b := range h.Tasks {
			if b.Name == "" || b.Cron == "" || b.Message == "" || names[b.Name] {
				t.Errorf("%q gives %+v", text, b)
			}
			names[b.Name] = true
			again.WriteString("## " + b.Name + "\n- Cron: x\n- Message: y\n")
		}
		if len(h.Tasks) > 0 && !strings.ContainsAny(again.String(), "\r") && !strings.Contains(again.String(), "<!--") {
			if got := workspace.ParseHeartbeat(again.String()); len(got.Tasks) != len(h.Tasks) {
				t.Errorf("%q: %d tasks, written again %d", text, len(h.Tasks), len(got.Tasks))
			}
		}
	})
}

package tty

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"klawbot/gateway"
	"klawbot/gateway/console"
)

func press(name string) tea.KeyPressMsg {
	switch name {
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "alt+enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "ctrl+c", "ctrl+d", "ctrl+u", "ctrl+j", "ctrl+a":
		return tea.KeyPressMsg{Code: rune(name[len(name)-1]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func typed(e *editor, keys ...string) {
	for _, k := range keys {
		if len([]rune(k)) > 1 && k != "up" && k != "down" && k != "tab" && k != "left" && !strings.Contains(k, "+") {
			for _, r := range k {
				e.update(press(string(r)))
			}
			continue
		}
		if k == "tab" {
			e.complete()
			continue
		}
		e.update(press(k))
	}
}

func newTestEditor(file string) *editor {
	e := newEditor(Config{History: file, Commands: []string{"/help", "/heartbeat", "/new"}, Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }})
	e.focus()
	return e
}

func TestEditor(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"moves":             {[]string{"helo", "left", "l"}, "hello"},
		"new line":          {[]string{"a", "alt+enter", "b"}, "a\nb"},
		"another new line":  {[]string{"a", "ctrl+j", "b"}, "a\nb"},
		"clears the line":   {[]string{"abc", "ctrl+u", "d"}, "d"},
		"one completion":    {[]string{"/n", "tab"}, "/new "},
		"two completions":   {[]string{"/h", "tab"}, "/he"},
		"no completion":     {[]string{"/x", "tab"}, "/x"},
		"words stay":        {[]string{"hello /h", "tab"}, "hello /h"},
		"letters of others": {[]string{"привет 你好 🙂"}, "привет 你好 🙂"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTestEditor("")
			typed(e, c.keys...)
			if got := e.text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTabShowsCandidates(t *testing.T) {
	m := newModel(t.Context(), Config{Commands: []string{"/help", "/heartbeat", "/new"}})
	m.editor.area.SetValue("/h")
	m.Update(press("tab"))
	if m.hint != "/help  /heartbeat" || m.editor.text() != "/he" {
		t.Errorf("hint %q, text %q", m.hint, m.editor.text())
	}
	m.editor.area.SetValue("/n")
	m.Update(press("tab"))
	if m.hint != "" || m.editor.text() != "/new " {
		t.Errorf("hint %q, text %q", m.hint, m.editor.text())
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chat_history")
	e := newTestEditor(file)
	for _, text := range []string{"one", "two\nlines", "two\nlines", "a secret"} {
		e.area.SetValue(text)
		e.take()
	}
	e = newTestEditor(file)
	typed(e, "draft", "up")
	if e.text() != "a ***" {
		t.Errorf("the newest entry is %q", e.text())
	}
	typed(e, "up")
	if e.text() != "two\nlines" {
		t.Errorf("the one before is %q", e.text())
	}
	typed(e, "down", "down")
	if e.text() != "draft" {
		t.Errorf("what was typed is %q", e.text())
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "secret") || strings.Count(string(text), "\n") != 3 {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// Ctrl-R finds what was typed before, each time an older entry.
func TestSearchInHistory(t *testing.T) {
	m := newModel(t.Context(), Config{})
	m.editor.history = []string{"buy milk", "call mom", "milk and bread", "bye"}
	m.editor.at = 4
	m.editor.area.SetValue("milk")
	search := tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}
	for _, want := range []string{"milk and bread", "buy milk", "buy milk"} {
		if m.Update(search); m.editor.text() != want {
			t.Errorf("found %q, want %q", m.editor.text(), want)
		}
	}
	if m.hint == "" {
		t.Error("the end of the history is not told")
	}
	if m.Update(press("down")); m.editor.text() != "call mom" {
		t.Errorf("below it is %q", m.editor.text())
	}
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chat_history")
	e := newTestEditor(file)
	for i := range maxHistory + 20 {
		e.area.SetValue(strings.Repeat("x", 1+i%7))
		e.take()
	}
	if e = newTestEditor(file); len(e.history) != maxHistory {
		t.Errorf("%d entries are kept, want %d", len(e.history), maxHistory)
	}
}

func TestHistoryBehindALongPaste(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chat_history")
	e := newTestEditor(file)
	for _, text := range []string{"before", strings.Repeat("a line\n", 20_000), "after"} {
		e.paste(text)
		e.take()
	}
	if e = newTestEditor(file); len(e.history) == 0 || e.history[len(e.history)-1] != "after" || !slices.Contains(e.history, "before") {
		t.Errorf("%d entries are read", len(e.history))
	}
}

func TestPaste(t *testing.T) {
	e := newTestEditor("")
	typed(e, "see: ")
	e.paste("a\r\nb\x1b[31mc")
	if got := e.text(); got != "see: a\nb[31mc" {
		t.Errorf("pasted %q", got)
	}
	e.clear()
	long := strings.Repeat("line\n", 30)
	e.paste(long)
	e.paste(long + "other\n")
	if got := e.text(); got != "[30 lines][31 lines]" {
		t.Errorf("a long paste is shown as %q", got)
	}
	if got := e.take(); got != long+long+"other\n" {
		t.Errorf("sent are %d characters, want %d", len(got), 2*len(long)+6)
	}
}

// heard lets the talk hear events and returns what stays on the screen.
func heard(m *model, events ...console.Event) (printed string) {
	for _, e := range events {
		printed += strings.Join(printedBy(m, m.hear(e)), "\n")
	}
	return printed
}

// printedBy runs a command and those that follow from it, and returns each text that is
// printed above the editor.
func printedBy(m *model, cmd tea.Cmd) (texts []string) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil, frameMsg:
	case printedMsg:
		_, next := m.Update(msg)
		texts = printedBy(m, next)
	default:
		v := reflect.ValueOf(msg)
		if v.Kind() != reflect.Slice { // a line
			return []string{strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(msg), "{"), "}")}
		}
		for i := range v.Len() { // commands in their order
			texts = append(texts, printedBy(m, v.Index(i).Interface().(tea.Cmd))...)
		}
	}
	return texts
}

// Bubble Tea makes room for all lines of a print at once, and what does not fit on the
// screen stays above as empty lines.
func TestLongAnswerIsPrintedInScreens(t *testing.T) {
	m := newModel(t.Context(), Config{})
	m.width, m.height = 60, 20
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("x", 20)))
	}
	lines[50] = strings.Repeat("x", 60*30) // is longer than the screen, alone
	text := "```\n" + strings.Join(lines, "\n") + "\n```"
	texts := printedBy(m, m.hear(console.Event{Type: console.TypeMessage, ID: 1, Text: text, Last: true}))
	for _, text := range texts {
		rows := 0
		for line := range strings.SplitSeq(text, "\n") {
			rows += 1 + len(line)/m.width
		}
		if rows >= m.height && strings.Contains(text, "\n") {
			t.Errorf("%d rows are printed at once", rows)
		}
	}
	if n := strings.Count(strings.Join(texts, "\n"), "line "); n != 199 {
		t.Errorf("%d lines are printed", n)
	}
}

// Commands run beside each other.
func TestTextsArePrintedInOrder(t *testing.T) {
	m := newModel(t.Context(), Config{})
	first, second := m.print("first"), m.print("second")
	if second != nil {
		t.Fatal("two commands print at one time")
	}
	if got := strings.Join(printedBy(m, first), ","); got != "first,second" {
		t.Errorf("printed %q", got)
	}
}

// A bot that does not take /stop must not leave the next answer without a way to stop it.
func TestRefusedStop(t *testing.T) {
	m := newModel(t.Context(), Config{})
	m.asked = time.Now()
	m.interrupt()
	m.Update(refusedMsg{errors.New("no room")})
	m.asked = time.Now()
	if m.stopping || strings.Contains(m.View().Content, "stopping") {
		t.Error("the next answer cannot be stopped")
	}
}

func TestAnswerIsPrintedOnce(t *testing.T) {
	m := newModel(t.Context(), Config{})
	m.asked = time.Now()
	printed := heard(m,
		console.Event{Type: console.TypeMessage, ID: 1, Text: "…"},
		console.Event{Type: console.TypeEdit, ID: 1, Text: "Hel…"},
		console.Event{Type: console.TypeEdit, ID: 1, Text: "Hello **you**\n"},
	)
	if printed != "" || !strings.Contains(m.View().Content, "Hello") || !strings.Contains(m.View().Content, "thinking") {
		t.Fatalf("while it grows, %q is printed and the view is %q", printed, m.View().Content)
	}
	printed = heard(m, console.Event{Type: console.TypeEdit, ID: 1, Text: "Hello **you**", Last: true})
	if strings.Count(printed, "Hello") != 1 || !strings.Contains(printed, sgr["bold"]+"you"+reset) {
		t.Errorf("printed %q", printed)
	}
	if view := m.View().Content; strings.Contains(view, "Hello") || strings.Contains(view, "thinking") {
		t.Errorf("afterwards the view is %q", view)
	}
	if m.turn() != nil {
		t.Error("an idle terminal draws")
	}
}

func TestDeletedPlaceholderIsNotPrinted(t *testing.T) {
	m := newModel(t.Context(), Config{})
	printed := heard(m,
		console.Event{Type: console.TypeMessage, ID: 1, Text: "…"},
		console.Event{Type: console.TypeDelete, ID: 1},
		console.Event{Type: console.TypeMessage, ID: 2, Text: "first part"},
		console.Event{Type: console.TypeMessage, ID: 3, Text: "second part", Last: true},
	)
	if !strings.Contains(printed, "first part\nsecond part") || strings.Contains(printed, "…") {
		t.Errorf("printed %q", printed)
	}
}

func TestKeysThatLeave(t *testing.T) {
	m := newModel(t.Context(), Config{})
	m.editor.area.SetValue("half a line")
	if m.interrupt(); m.editor.text() != "" || m.left != nil || m.hint == "" {
		t.Errorf("the first Ctrl-C: %q, %v", m.editor.text(), m.left)
	}
	if m.interrupt(); m.left != ErrInterrupted {
		t.Errorf("the second one: %v", m.left)
	}
	m = newModel(t.Context(), Config{})
	m.asked = time.Now()
	if m.interrupt(); !m.stopping || m.left != nil {
		t.Error("Ctrl-C does not stop the answer")
	}
	for _, text := range []string{"/quit", " /exit "} {
		m = newModel(t.Context(), Config{})
		m.editor.area.SetValue(text)
		if m.send(); m.left != errQuit {
			t.Errorf("%s does not leave", text)
		}
	}
}

func TestStyled(t *testing.T) {
	for markdown, want := range map[string]string{
		"plain":                       "plain",
		"**bold** and `code`":         sgr["bold"] + "bold" + reset + " and " + sgr["code"] + "code" + reset,
		"[name](https://example.com)": sgr["text_link"] + "name" + reset + " (https://example.com)",
		"🎉 **x**":                     "🎉 " + sgr["bold"] + "x" + reset,
	} {
		if got := Styled(markdown, 80, nil); got != want {
			t.Errorf("%q: got %q, want %q", markdown, got, want)
		}
	}
	wide := Styled(strings.Repeat("word ", 30), 40, nil)
	for line := range strings.SplitSeq(wide, "\n") {
		if len(line) > 40 {
			t.Errorf("a line has %d columns: %q", len(line), line)
		}
	}
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter2secret", "[redacted]") }
	for _, split := range []string{"hunter`2sec`ret", "`hunter2`**secret**", "[hunter2](https://example.com)secret"} {
		if got := ansi.Strip(Styled("it is "+split, 80, mask)); !strings.HasPrefix(got, "it is [redacted]") {
			t.Errorf("%q shows %q", split, got)
		}
	}
	code := "```\n" + strings.Repeat("x", 60) + "\n```"
	if got := Styled(code, 40, nil); !strings.Contains(got, strings.Repeat("x", 60)) {
		t.Errorf("code is broken: %q", got)
	}
}

// The line below the answer says what the bot does, in one row.
func TestSpinnerNamesTheWork(t *testing.T) {
	m := newModel(t.Context(), Config{})
	shell := &gateway.Work{Kind: gateway.WorkTool, Tool: "shell", Detail: "du -sh notes", Since: time.Now().Add(-4 * time.Second)}
	long := &gateway.Work{Kind: gateway.WorkTool, Tool: "shell", Detail: strings.Repeat("долго ", 10), Since: time.Now()}
	for _, c := range []struct {
		width int
		work  *gateway.Work
		want  string
	}{
		{80, &gateway.Work{Kind: gateway.WorkThinking, Since: time.Now()}, "⠋ thinking… 0 s   Ctrl-C stops"},
		{80, shell, "⠋ running shell: du -sh notes 4 s   Ctrl-C stops"},
		{40, shell, "⠋ running shell: du -sh notes 4 s"},
		{40, long, "⠋ running shell: долго долго долго … 0 s"},
		{80, &gateway.Work{Kind: gateway.WorkTool, Tool: "a\x1b[2Jb", Since: time.Now()}, "⠋ running a�[2Jb 0 s   Ctrl-C stops"},
		{80, &gateway.Work{Kind: gateway.WorkWaiting, Tool: "shell", Since: time.Now()}, "⠋ waiting for your decision 0 s   Ctrl-C stops"},
		{80, &gateway.Work{Kind: gateway.WorkIdle, Since: time.Now()}, "⠋ thinking… 0 s   Ctrl-C stops"},
	} {
		m.width, m.asked = c.width, time.Now()
		m.hear(console.Event{Type: console.TypeWork, Work: c.work})
		got := strings.TrimSuffix(strings.TrimPrefix(m.working(), "\x1b[2m"), reset)
		if got != c.want || ansi.StringWidth(got) > c.width {
			t.Errorf("%+v in %d columns: %q, want %q", *c.work, c.width, got, c.want)
		}
	}
	m.hear(console.Event{Type: console.TypeMessage, ID: 1, Text: "done", Last: true})
	if m.turn() != nil {
		t.Error("it still draws when the answer is there")
	}
}

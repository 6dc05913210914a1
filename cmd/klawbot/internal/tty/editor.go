package tty

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"klawbot/cmd/klawbot/internal/terminal"
)

const (
	// maxHistory bounds the kept lines, maxRows the height of the editor.
	maxHistory = 1000
	maxRows    = 10
	// longestEntry bounds what the file keeps of one text, in bytes: pasted files are not
	// typed again.
	longestEntry = 16 << 10
	// longPaste is from how many lines on a pasted text is shown as one word.
	longPaste = 20
)

// editor is the line that is typed, with its history.
type editor struct {
	area     textarea.Model
	file     string
	redact   func(string) string
	commands []string
	names    func(words []string) []string
	// killed is what Ctrl-W, Ctrl-U and Ctrl-K took away last, for Ctrl-Y.
	killed string

	history []string
	// at is the entry that is shown; len(history) is what is being typed, kept in draft.
	at    int
	draft string
	// sought is what Ctrl-R looks for, "" when it does not.
	sought string
	// pasted are long texts, by the words that stand for them.
	pasted map[string]string
}

func newEditor(c Config) *editor {
	e := &editor{area: textarea.New(), file: c.History, redact: c.Redact, commands: c.Commands, names: c.Names, pasted: map[string]string{}}
	e.area.Prompt, e.area.ShowLineNumbers = terminal.Prompt, false
	e.area.SetPromptFunc(len(terminal.Prompt), func(p textarea.PromptInfo) string {
		if p.LineNumber > 0 {
			return "  "
		}
		return terminal.Prompt
	})
	e.area.DynamicHeight, e.area.MinHeight, e.area.MaxHeight, e.area.MaxContentHeight = true, 1, maxRows, 10_000
	e.area.CharLimit = 0
	e.area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "ctrl+j", "shift+enter"))
	plain := textarea.Styles{}
	plain.Cursor.Blink = false
	e.area.SetStyles(plain)
	e.resize(80)
	e.load()
	return e
}

func (e *editor) focus() tea.Cmd { return e.area.Focus() }

func (e *editor) resize(width int) { e.area.SetWidth(max(width, 20)) }

func (e *editor) view() string { return strings.TrimRight(e.area.View(), " ") }

func (e *editor) text() string { return e.area.Value() }

func (e *editor) clear() {
	e.area.Reset()
	e.at, e.draft = len(e.history), ""
}

// paste takes a text as it is: it never sends, and a long one is shown as one word.
func (e *editor) paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = terminal.Visible(text)
	if n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; n > longPaste {
		word := fmt.Sprintf("[%d lines]", n)
		for i := 2; e.pasted[word] != ""; i++ {
			word = fmt.Sprintf("[%d lines, %d]", n, i)
		}
		e.pasted[word] = text
		text = word
	}
	e.area.InsertString(text)
}

// take returns what was typed, remembers it and clears the editor.
func (e *editor) take() string {
	text := e.text()
	for word, long := range e.pasted {
		text = strings.ReplaceAll(text, word, long)
	}
	clear(e.pasted)
	e.remember(text)
	e.clear()
	return text
}

// update handles the keys of a line: history and completion are ours.
func (e *editor) update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "up", "ctrl+p":
			if e.area.Line() == 0 {
				e.show(e.at - 1)
				return nil
			}
		case "down", "ctrl+n":
			if e.area.Line() == e.area.LineCount()-1 {
				e.show(e.at + 1)
				return nil
			}
		}
	}
	before := e.text()
	var cmd tea.Cmd
	e.area, cmd = e.area.Update(msg)
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "ctrl+w", "ctrl+u", "ctrl+k", "alt+d", "alt+backspace":
			if gone := missing(before, e.text()); gone != "" {
				e.killed = gone
			}
		case "ctrl+y":
			e.area.InsertString(e.killed)
		}
	}
	return cmd
}

// missing is the piece of a text that another one lacks.
func missing(before, after string) string {
	if len(after) >= len(before) {
		return ""
	}
	head := len(commonPrefix([]string{before, after}))
	tail := 0
	for tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	return before[head : len(before)-tail]
}

// show shows an entry of the history, or what was being typed.
func (e *editor) show(at int) {
	if at < 0 || at > len(e.history) || at == e.at {
		return
	}
	if e.at == len(e.history) {
		e.draft = e.text()
	}
	e.at = at
	if at == len(e.history) {
		e.area.SetValue(e.draft)
	} else {
		e.area.SetValue(e.history[at])
	}
	e.area.MoveToEnd()
}

// search shows the entry of the history before the one that is shown that holds what was
// typed. It reports whether there is one.
func (e *editor) search() bool {
	if e.sought == "" {
		e.sought = e.text()
	}
	for at := min(e.at, len(e.history)) - 1; at >= 0; at-- {
		if strings.Contains(e.history[at], e.sought) {
			e.show(at)
			return true
		}
	}
	return false
}

// complete completes the command that is typed, or the name behind it, as far as it is
// clear. It returns what there is to choose from, if that is several.
func (e *editor) complete() []string {
	text := e.text()
	if !strings.HasPrefix(text, "/") || strings.Contains(text, "\n") {
		return nil
	}
	from, all := strings.LastIndex(text, " ")+1, e.commands
	if from > 0 {
		if all = nil; e.names != nil {
			all = e.names(strings.Fields(text[:from]))
		}
	}
	var fits []string
	for _, c := range all {
		if strings.HasPrefix(c, text[from:]) {
			fits = append(fits, c)
		}
	}
	switch len(fits) {
	case 0:
		return nil
	case 1:
		e.area.SetValue(text[:from] + fits[0] + " ")
		fits = nil
	default:
		e.area.SetValue(text[:from] + commonPrefix(fits))
	}
	e.area.MoveToEnd()
	return fits
}

func commonPrefix(texts []string) string {
	prefix := texts[0]
	for _, t := range texts[1:] {
		for !strings.HasPrefix(t, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

// load reads the history: a quoted text a line. A file that cannot be read is no
// history.
func (e *editor) load() {
	kept, err := os.ReadFile(e.file)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(kept)) {
		if text, err := strconv.Unquote(strings.TrimSuffix(line, "\n")); err == nil {
			e.history = append(e.history, text)
		}
	}
	e.history = e.history[max(0, len(e.history)-maxHistory):]
	e.at = len(e.history)
}

// remember keeps a line with its secrets masked. It is written at once, so that a
// crash of the terminal loses none.
func (e *editor) remember(text string) {
	if strings.TrimSpace(text) == "" || len(e.history) > 0 && e.history[len(e.history)-1] == text {
		return
	}
	if e.redact != nil {
		text = e.redact(text)
	}
	e.history = append(e.history, text)
	if e.file == "" {
		return
	}
	if len(e.history) > maxHistory {
		e.history = slices.Clone(e.history[len(e.history)-maxHistory:])
		e.rewrite()
		return
	}
	f, err := os.OpenFile(e.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return // a history that cannot be kept stops no talk
	}
	defer f.Close()
	_, _ = f.WriteString(entry(text)) // as above
}

// entry is a text in the file. One that is too long for it is known until the end only.
func entry(text string) string {
	if len(text) > longestEntry {
		return ""
	}
	return strconv.Quote(text) + "\n"
}

func (e *editor) rewrite() {
	var b strings.Builder
	for _, text := range e.history {
		b.WriteString(entry(text))
	}
	_ = os.WriteFile(e.file, []byte(b.String()), 0o600) // a history that cannot be kept stops no talk
}

// Package tty is the chat in a real terminal: it edits lines, shows answers while they
// grow and prints each finished block once. Pipes, files and dumb terminals are
// package terminal's.
package tty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sync/errgroup"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/gateway"
	"klawbot/gateway/console"
)

// Config is what Converse needs.
type Config struct {
	Bot     *console.Client
	In, Out *os.File
	Environ []string
	// History is the file of what was typed before; empty keeps none.
	History string
	// Commands are the names that Tab completes, with their slash.
	Commands []string
	// Names are what Tab completes behind these words, such as models behind /model.
	Names func(words []string) []string
	// Redact masks secrets in what is kept, and in what rendered Markdown shows.
	Redact func(string) string
}

// ErrInterrupted says that the person left with Ctrl-C, twice.
var ErrInterrupted = errors.New("interrupted")

// Converse talks until the person ends it, or ctx.
func Converse(ctx context.Context, c Config) error {
	group, ctx := errgroup.WithContext(ctx)
	m := newModel(ctx, c)
	m.ahead = typedAhead(c.In)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithEnvironment(c.Environ), tea.WithoutSignalHandler())
	group.Go(func() error {
		return c.Bot.Events(ctx, func(e console.Event) error {
			program.Send(e)
			return ctx.Err()
		})
	})
	group.Go(func() error {
		_, err := program.Run()
		if err == nil || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
			err = errQuit
		}
		return errors.Join(m.left, err)
	})
	err := group.Wait()
	switch {
	case errors.Is(err, ErrInterrupted):
		return ErrInterrupted
	case errors.Is(err, errQuit), errors.Is(err, context.Canceled):
		return nil
	case errors.Is(err, console.ErrOff):
		return fmt.Errorf("%w; set channels.console.enabled: true and restart it", err)
	}
	return err
}

// errQuit ends the talk without being an error.
var errQuit = errors.New("quit")

// placeholder is what the bot shows while it has nothing to say yet.
const placeholder = "…"

const (
	// frameEvery is how often the spinner turns.
	frameEvery = 100 * time.Millisecond
	// quitWithin is how soon a second Ctrl-C must follow to leave.
	quitWithin = 2 * time.Second
	// twoFrames is how long Bubble Tea takes to draw what has changed.
	twoFrames = 40 * time.Millisecond
	// tab is how a tab is shown, whose width depends on where it stands.
	tab = "    "
	// maxWidth bounds the lines of text, in columns.
	maxWidth = 100
)

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// model is the state of the talk. Bubble Tea calls it from one goroutine.
type model struct {
	ctx    context.Context
	config Config
	editor *editor
	width  int
	height int

	// open are the messages that are not complete, in order.
	open []*block
	// asked is when the person sent what is not answered yet, zero for nothing.
	asked time.Time
	// work is what the bot does for it.
	work    gateway.Work
	frame   int
	ticking bool
	// sent is closed when the bot has got what was sent last.
	sent <-chan struct{}
	// interrupted is when Ctrl-C was pressed last; stopping says that a stop is asked.
	interrupted time.Time
	stopping    bool
	hint        string
	left        error // why the talk ended
	// ahead are the lines that were typed before the editor was there.
	ahead []string

	// unprinted are the lines that wait for their place above the editor; printing says
	// that a command is at it.
	unprinted []string
	printing  bool
}

// block is a message of the bot.
type block struct {
	id   int64
	text string
}

func newModel(ctx context.Context, c Config) *model {
	nothing := make(chan struct{})
	close(nothing)
	return &model{ctx: ctx, config: c, editor: newEditor(c), width: 80, height: 24, sent: nothing}
}

func (m *model) Init() tea.Cmd {
	return tea.Batch(m.editor.focus(), func() tea.Msg { return aheadMsg{} })
}

// aheadMsg sends what was typed before the editor was there.
type aheadMsg struct{}

func (m *model) sendAhead() tea.Cmd {
	var all []tea.Cmd
	for _, line := range m.ahead {
		m.editor.paste(line)
		all = append(all, m.send())
	}
	m.ahead = nil
	return tea.Sequence(all...)
}

type frameMsg struct{}

// refusedMsg says why a line did not reach the bot.
type refusedMsg struct{ err error }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.editor.resize(min(msg.Width, maxWidth))
		return m, nil
	case frameMsg:
		return m, m.turn()
	case aheadMsg:
		return m, m.sendAhead()
	case printedMsg:
		m.printing = false
		return m, m.printNext(0)
	case refusedMsg:
		m.asked, m.stopping = time.Time{}, false
		return m, m.print("✗ " + terminal.Visible(msg.err.Error()))
	case console.Event:
		return m, m.hear(msg)
	case tea.PasteMsg:
		m.editor.paste(msg.Content)
		return m, nil
	case tea.KeyPressMsg:
		if cmd, done := m.key(msg); done {
			return m, cmd
		}
	}
	return m, m.editor.update(msg)
}

// key handles the keys that are not the editor's.
func (m *model) key(k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	m.hint = ""
	if k.String() == "ctrl+r" {
		if !m.editor.search() {
			m.hint = "Nothing older matches."
		}
		return nil, true
	}
	m.editor.sought = ""
	switch k.String() {
	case "enter":
		return m.send(), true
	case "ctrl+c":
		return m.interrupt(), true
	case "tab":
		m.hint = strings.Join(m.editor.complete(), "  ")
		return nil, true
	case "ctrl+l":
		return tea.ClearScreen, true
	case "ctrl+z":
		if !stoppable() {
			m.hint = "There is no shell to go back to."
			return nil, true
		}
		return tea.Suspend, true
	case "ctrl+d":
		if m.editor.text() == "" {
			m.left = errQuit
			return tea.Quit, true
		}
	}
	return nil, false
}

// interrupt stops the answer, else clears the line; twice it leaves.
func (m *model) interrupt() tea.Cmd {
	again := time.Since(m.interrupted) < quitWithin
	m.interrupted = time.Now()
	switch {
	case !m.asked.IsZero() && !m.stopping:
		m.stopping = true
		return m.say("/stop")
	case again:
		m.left = ErrInterrupted
		return tea.Quit
	}
	m.editor.clear()
	m.hint = "Ctrl-C again quits."
	return nil
}

// send sends what was typed.
func (m *model) send() tea.Cmd {
	shown := m.editor.text() // with a word for a long pasted text
	text := m.editor.take()
	switch strings.TrimSpace(text) {
	case "":
		return nil
	case "/quit", "/exit":
		m.left = errQuit
		return tea.Quit
	}
	m.asked = time.Now()
	return tea.Batch(m.print(echo(shown, m.width)), m.say(text), m.tick())
}

// echo is how a sent message stays on the screen.
func echo(text string, width int) string {
	text = ansi.Wrap(terminal.Visible(text), max(width, 20)-len(terminal.Prompt), "")
	return terminal.Prompt + strings.ReplaceAll(text, "\n", "\n  ")
}

// say sends a text. Each waits for the one before, so that the bot gets them in order:
// a stop must not overtake what it stops.
func (m *model) say(text string) tea.Cmd {
	before, sent := m.sent, make(chan struct{})
	m.sent = sent
	return func() tea.Msg {
		defer close(sent)
		select {
		case <-before:
		case <-m.ctx.Done():
			return nil
		}
		if _, err := m.config.Bot.Say(m.ctx, text); err != nil {
			if refused, ok := errors.AsType[*console.RefusedError](err); ok {
				err = errors.New(refused.Why)
			}
			return refusedMsg{err}
		}
		return nil
	}
}

// tick starts the spinner; without a question it stands still and draws nothing.
func (m *model) tick() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	return tea.Tick(frameEvery, func(time.Time) tea.Msg { return frameMsg{} })
}

func (m *model) turn() tea.Cmd {
	m.ticking = false
	if m.asked.IsZero() {
		return nil
	}
	m.frame++
	return m.tick()
}

// hear takes what the bot shows.
func (m *model) hear(e console.Event) tea.Cmd {
	switch e.Type {
	case console.TypeTyping:
		if m.asked.IsZero() {
			m.asked = time.Now()
		}
		return m.tick()
	case console.TypeWork:
		return m.see(e.Work)
	case console.TypeDelete:
		m.open = slices.DeleteFunc(m.open, func(b *block) bool { return b.id == e.ID })
		return nil
	case console.TypeMessage, console.TypeEdit:
		m.put(e.ID, terminal.Visible(e.Text))
	}
	if !e.Last {
		return nil
	}
	m.asked, m.stopping, m.work = time.Time{}, false, gateway.Work{}
	var done []string
	for _, b := range m.open {
		if text := strings.TrimSpace(b.text); text != "" && text != placeholder {
			done = append(done, Styled(text, min(m.width, maxWidth), m.config.Redact))
		}
	}
	m.open = nil
	if len(done) == 0 {
		return nil
	}
	return m.print(strings.Join(done, "\n"))
}

// see notes what the bot does now.
func (m *model) see(w *gateway.Work) tea.Cmd {
	if w == nil {
		return nil
	}
	m.work = *w
	if w.Kind != gateway.WorkIdle && m.asked.IsZero() {
		m.asked = time.Now()
	}
	return m.tick()
}

// printedMsg says that the last lines are on the screen.
type printedMsg struct{}

// print puts a text above the editor, for good. Commands run beside each other, so only
// one prints at a time: texts stay in their order.
func (m *model) print(text string) tea.Cmd {
	m.unprinted = append(m.unprinted, strings.Split(strings.ReplaceAll(text, "\t", tab), "\n")...)
	return m.printNext(twoFrames)
}

// printNext prints what fits on the screen beside the view. Bubble Tea makes room for all
// lines at once: more of them would scroll the view and empty lines out of the screen,
// where they stay. So it must have drawn the view that is left, too, which it does within
// the pause.
func (m *model) printNext(pause time.Duration) tea.Cmd {
	if m.printing || len(m.unprinted) == 0 {
		return nil
	}
	m.printing = true
	room := m.height - strings.Count(m.View().Content, "\n") - 1
	n := 0
	for n < len(m.unprinted) {
		room -= 1 + ansi.StringWidth(m.unprinted[n])/max(m.width, 1)
		if n > 0 && room < 0 {
			break
		}
		n++
	}
	text := strings.Join(m.unprinted[:n], "\n")
	m.unprinted = m.unprinted[n:]
	return tea.Sequence(
		tea.Tick(pause, func(time.Time) tea.Msg { return nil }),
		tea.Println(m.coloured(text)),
		func() tea.Msg { return printedMsg{} },
	)
}

func (m *model) put(id int64, text string) {
	if i := slices.IndexFunc(m.open, func(b *block) bool { return b.id == id }); i >= 0 {
		m.open[i].text = text
		return
	}
	m.open = append(m.open, &block{id, text})
}

// View draws what is not finished: the answer that grows, the spinner and the editor.
func (m *model) View() tea.View {
	input := m.editor.view()
	var above []string
	for _, b := range m.open {
		if text := strings.TrimSpace(strings.TrimSuffix(b.text, placeholder)); text != "" {
			above = append(above, Styled(text, min(m.width, maxWidth), m.config.Redact))
		}
	}
	if !m.asked.IsZero() {
		above = append(above, m.working())
	}
	if m.hint != "" {
		above = append(above, faint(m.hint))
	}
	lines := strings.Split(strings.Join(above, "\n"), "\n")
	if room := max(m.height-strings.Count(input, "\n")-2, 1); len(lines) > room {
		lines = lines[len(lines)-room:] // the beginning is printed when the answer is complete
	}
	if len(above) > 0 {
		input = strings.Join(lines, "\n") + "\n" + input
	}
	return tea.NewView(m.coloured(input))
}

// coloured is a text without styles where people want none (https://no-color.org).
func (m *model) coloured(text string) string {
	if slices.ContainsFunc(m.config.Environ, func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") && v != "NO_COLOR=" }) {
		return ansi.Strip(text)
	}
	return text
}

// working is the line with the spinner, cut to one row.
func (m *model) working() string {
	what, since := "thinking…", m.asked
	switch {
	case m.stopping:
		what = "stopping…"
	case m.work.Kind == gateway.WorkTool:
		what, since = "running "+terminal.Visible(m.work.Tool), m.work.Since
		if m.work.Detail != "" {
			what += ": " + terminal.Visible(m.work.Detail)
		}
	case m.work.Kind == gateway.WorkWaiting:
		what, since = "waiting for your decision", m.work.Since
	}
	const hint = "   Ctrl-C stops"
	took := fmt.Sprintf(" %d s", max(int(time.Since(since).Seconds()), 0))
	room := max(m.width, 20) - len(took) - 2
	if ansi.StringWidth(what)+len(hint) <= room {
		took += hint
	}
	return faint(fmt.Sprintf("%c %s%s", frames[m.frame%len(frames)], ansi.Truncate(what, room, "…"), took))
}

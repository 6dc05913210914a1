package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"klawbot/internal/clip"
)

// HeartbeatFile has the background tasks.
const HeartbeatFile = "HEARTBEAT.md"

// maxHeartbeatFile bounds what is hashed, in bytes.
const maxHeartbeatFile = 4 << 20

// HeartbeatSum is the hash of HeartbeatFile as in the record of changes, "" for no file.
func (w *Workspace) HeartbeatSum() (string, error) {
	f, err := os.Open(filepath.Join(w.dir, HeartbeatFile))
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read who wrote %s: %w", HeartbeatFile, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxHeartbeatFile)); err != nil {
		return "", fmt.Errorf("read who wrote %s: %w", HeartbeatFile, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Heartbeat is the content of HeartbeatFile: tasks, or a text without tasks. Without
// both the heartbeat is off.
type Heartbeat struct {
	Tasks []Beat
	Text  string
	// Faults are the errors in the file, for people.
	Faults []string
}

// Beat is a task of the heartbeat. Name, Cron and Message are not empty; they are not
// checked here.
type Beat struct {
	Name, Cron, Message, Model, InjectInto string
}

// maxBeats bounds the tasks in the file.
const maxBeats = 100

// Heartbeat reads HeartbeatFile. Without the file the heartbeat is off.
func (w *Workspace) Heartbeat() Heartbeat {
	return ParseHeartbeat(w.texts([]section{{file: HeartbeatFile}})[0])
}

// Stamp tells two versions of a file apart; zero is no file.
type Stamp struct{ size, modified int64 }

// HeartbeatStamp changes when HeartbeatFile changes.
func (w *Workspace) HeartbeatStamp() Stamp {
	info, err := os.Stat(filepath.Join(w.dir, HeartbeatFile))
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime().UnixNano()}
}

var (
	heading = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]`)
	// comment is one of HTML, or one of Markdown: a link that nothing refers to.
	comment = regexp.MustCompile(`(?s:<!--.*?(?:-->|\z))|(?m:^ {0,3}\[(?://|comment)\]: *(?:#|<>).*$)`)
	// metadata is front matter with keys in lower case, as templates have it.
	metadata = regexp.MustCompile(`\A\s*---[ \t]*\n(?:(?:[a-z_]+:|[ \t]+- ).*\n)+---[ \t]*(?:\n|\z)`)
	// blankHTML is an empty line of an editor that writes HTML.
	blankHTML = regexp.MustCompile(`(?i)<br */?>|&nbsp;`)
	field     = regexp.MustCompile(`^\s*[-*+]\s+\**([A-Za-z][A-Za-z _-]*?)\**\s*:\**\s*(.*)$`)
)

// ParseHeartbeat reads the tasks of a text: each has a heading of the second level and
// fields, "- Cron: 0 9 * * *" and "- Message: …", optionally "- Model: …" and
// "- InjectInto: …". A message continues in the lines below it. Comments and other
// headings are ignored.
func ParseHeartbeat(text string) Heartbeat {
	p := heartbeatParser{names: map[string]bool{}}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "", "\u200b", "").Replace(text)
	text = metadata.ReplaceAllString(comment.ReplaceAllString(text, ""), "")
	for line := range strings.Lines(text) {
		p.line(strings.TrimRight(line, "\n"))
	}
	p.end()
	if !p.tasks {
		if hasTask(p.free) {
			p.found.Text = strings.TrimSpace(strings.Join(p.free, "\n"))
		}
	}
	return p.found
}

// markers begin a line without a task: quotes, bullets, numbers and check boxes.
var markers = regexp.MustCompile(`^(?:[\s>]|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|\[[ xX]?\](?:\s|$)|[☐☑☒□▢◻⬜]\x{FE0F}?(?:\s|$))+`)

// fence begins or ends a block of code; a word behind it names a language.
var fence = regexp.MustCompile("^\\s*(```+|~~~+)\\s*\\w*\\s*$")

// hasWords reports whether a line says more than its markers and rules do.
func hasWords(line string) bool {
	if fence.MatchString(line) {
		return false
	}
	line = markers.ReplaceAllString(blankHTML.ReplaceAllString(line, " "), "")
	return strings.IndexFunc(line, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) && r > unicode.MaxASCII
	}) >= 0
}

var (
	ticked = regexp.MustCompile(`^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[xX]\]|[☑☒✅]\x{FE0F}?)(?:\s|$)`)
	open   = regexp.MustCompile(`^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[ ?\]|[☐□▢◻⬜]\x{FE0F}?)\s`)
	// noTask is a line that says that there is nothing to do.
	noTask = regexp.MustCompile(`(?i)^(?:(?:tasks?|to-?do|задачи|дела)\s*[:–—-]\s*)?(?:(?:currently|пока|сейчас)\s+)?` +
		`(?:none|nothing|nothing to do|nothing here|no tasks?|n/a|tbd|empty|нет|ничего|нет задач|задач нет|пусто|keine|nichts|aucune?|ninguna|nessuna|无|なし)` +
		`(?:\s+(?:yet|now|for now|right now|at the moment|today|пока))?$`)
)

// hasTask reports whether lines without headings hold something to do: more than ticked
// boxes with the lines below them, labels such as "Tasks:", and "none".
func hasTask(lines []string) bool {
	done := -1 // how far the ticked line is indented that the next ones belong to
	for _, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if !hasWords(line) || done >= 0 && indent > done && !open.MatchString(line) {
			continue
		}
		if done = -1; ticked.MatchString(line) {
			done = indent
			continue
		}
		text := strings.Trim(markers.ReplaceAllString(line, ""), " \t*_()[].!–—")
		if !strings.HasSuffix(text, ":") && !noTask.MatchString(text) {
			return true
		}
	}
	return false
}

// heartbeatParser reads one text.
type heartbeatParser struct {
	found Heartbeat
	names map[string]bool
	// tasks is set after the first heading of a task.
	tasks bool
	beat  Beat
	// open is the message that the next lines belong to, or nil.
	open *string
	free []string
}

func (p *heartbeatParser) line(line string) {
	if name, ok := strings.CutPrefix(line, "## "); ok {
		p.end()
		p.tasks, p.beat = true, Beat{Name: strings.Trim(strings.TrimSpace(name), "#*` ")}
		if p.beat.Name == "" {
			p.fault("a task has no name")
		}
		return
	}
	if heading.MatchString(line) || strings.Trim(line, "#") == "" && line != "" {
		p.open = nil // another heading
		return
	}
	if !p.tasks {
		if n := len(p.free); n > 0 && len(line) > 1 && strings.Trim(line, "= \t") == "" {
			p.free = p.free[:n-1] // it underlines a heading
			return
		}
		p.free = append(p.free, line)
		return
	}
	if m := field.FindStringSubmatch(line); m != nil && p.set(m[1], strings.TrimSpace(m[2])) {
		return
	}
	switch text := strings.TrimSpace(line); {
	case p.open != nil:
		*p.open = strings.TrimRight(*p.open+"\n"+text, " ")
	case text != "":
		p.fault("task %q: cannot read %q", p.beat.Name, clip.Runes(text, 60))
	}
}

// set sets a field of the task, and reports whether it is one.
func (p *heartbeatParser) set(name, value string) bool {
	name = strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
	fields := map[string]*string{"cron": &p.beat.Cron, "message": &p.beat.Message, "model": &p.beat.Model, "injectinto": &p.beat.InjectInto}
	to := fields[name]
	if to == nil {
		return false
	}
	p.open = nil
	if name == "message" {
		p.open = to
	} else {
		value = strings.TrimSpace(strings.Trim(value, "`\"'"))
	}
	if *to != "" {
		p.fault("task %q has %s twice", p.beat.Name, name)
		return true
	}
	*to = value
	return true
}

// end ends the current task.
func (p *heartbeatParser) end() {
	p.open = nil
	b := p.beat
	p.beat = Beat{}
	if b.Message = strings.TrimSpace(b.Message); !slices.ContainsFunc(strings.Split(b.Message, "\n"), hasWords) {
		b.Message = ""
	}
	switch {
	case b.Name == "":
	case p.names[b.Name]:
		p.fault("there are two tasks %q", b.Name)
	case b.Cron == "":
		p.fault("task %q has no Cron", b.Name)
	case b.Message == "":
		p.fault("task %q has no Message", b.Name)
	case len(p.found.Tasks) == maxBeats:
		p.fault("there are more than %d tasks", maxBeats)
	default:
		p.names[b.Name] = true
		p.found.Tasks = append(p.found.Tasks, b)
	}
}

// maxFaults bounds the errors that are reported.
const maxFaults = 10

func (p *heartbeatParser) fault(format string, args ...any) {
	if len(p.found.Faults) < maxFaults {
		p.found.Faults = append(p.found.Faults, fmt.Sprintf(format, args...))
	}
}

package tty

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/charmbracelet/x/ansi"

	"klawbot/gateway"
	"klawbot/gateway/telegram/markdown"
)

// sgr are the escape sequences that begin a style, by the type of an entity. Colours
// are the terminal's own, so that both themes stay readable.
var sgr = map[string]string{
	"bold": "\x1b[1m", "italic": "\x1b[3m", "underline": "\x1b[4m", "strikethrough": "\x1b[9m",
	"code": "\x1b[36m", "pre": "\x1b[0;36m", "blockquote": "\x1b[2m", "expandable_blockquote": "\x1b[2m", "text_link": "\x1b[4m",
}

const reset = "\x1b[0m"

func faint(text string) string { return "\x1b[2m" + text + reset }

// Styled renders Markdown for a terminal of so many columns. Lines are broken between
// words; code keeps its lines. It is the renderer of Telegram, so that a text looks
// alike in both. mask hides secrets that only the text without Markdown shows; a part
// with one has no styles. Nil hides nothing.
func Styled(text string, width int, mask func(string) string) string {
	var b strings.Builder
	for i, p := range markdown.Render(text) {
		if i > 0 {
			b.WriteByte('\n')
		}
		if mask != nil && mask(p.Text) != p.Text {
			p = gateway.Part{Text: mask(p.Text)}
		}
		b.WriteString(stylePart(p))
	}
	var lines []string
	code := false
	for line := range strings.SplitSeq(b.String(), "\n") {
		starts, ends := strings.Contains(line, sgr["pre"]), strings.Contains(line, reset)
		if code || starts {
			code = !ends
		} else {
			line = ansi.Wrap(line, max(width, 20), "")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// stylePart sets the entities of a part, whose offsets count UTF-16 units. Links that
// have a text of their own get their address behind them.
func stylePart(p gateway.Part) string {
	units := utf16.Encode([]rune(p.Text))
	begins, ends := map[int]string{}, map[int][]gateway.Entity{}
	for _, e := range p.Entities {
		if code := sgr[e.Type]; code != "" {
			begins[e.Offset] += code
			ends[e.Offset+e.Length] = append(ends[e.Offset+e.Length], e)
		}
	}
	open := func(at int) (codes string) {
		for _, e := range p.Entities {
			if e.Offset < at && at < e.Offset+e.Length {
				codes += sgr[e.Type]
			}
		}
		return codes
	}
	var b strings.Builder
	from := 0
	flush := func(to int) {
		b.WriteString(string(utf16.Decode(units[from:to])))
		from = to
	}
	for _, at := range boundaries(begins, ends, len(units)) {
		flush(at)
		if done := ends[at]; len(done) > 0 {
			b.WriteString(reset)
			for _, e := range done {
				if e.Type == "text_link" && e.URL != "" {
					b.WriteString(" (" + e.URL + ")")
				}
			}
			b.WriteString(open(at))
		}
		b.WriteString(begins[at])
	}
	flush(len(units))
	return b.String()
}

// boundaries are the offsets at which a style begins or ends, in order.
func boundaries(begins map[int]string, ends map[int][]gateway.Entity, most int) (all []int) {
	all = slices.AppendSeq(slices.Collect(maps.Keys(begins)), maps.Keys(ends))
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(at int) bool { return at > most })
}

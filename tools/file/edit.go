package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"klawbot/tools"
	"klawbot/tools/file/text"
)

type editArgs struct {
	Path   string `json:"path"`
	OldStr string `json:"old_str"`
	NewStr string `json:"new_str"`
}

// contextLines is how many lines are shown on each side of an edit.
const contextLines = 3

func (f *files) edit(ctx context.Context, c tools.Call, a editArgs) tools.Result {
	var around string
	shown, err := f.alter(ctx, alteration{c, a.Path, func(p place, before snapshot) (outcome, error) {
		was, now, at, err := a.change(p.shown, before)
		if err != nil {
			return outcome{}, err
		}
		around = excerpt(now.Body, at.From, at.To+len(now.Body)-len(was.Body)) + p.twinNote()
		content, err := now.Encode()
		return outcome{content: content}, errors.Join(err, f.fits(content))
	}})
	if err != nil {
		return failed(err, "file", a.Path)
	}
	return changed(fmt.Sprintf("OK: %s edited. It reads there now:\n%s", shown, around), shown)
}

// change makes the edit, or says why it is not clear.
func (a editArgs) change(shown string, before snapshot) (was, now text.Text, at text.Span, err error) {
	was, isText := text.Decode(before.content)
	shown = quote(shown)
	switch {
	case !before.exists():
		err = tools.Refuse(tools.NotFound, "file not found: %s", shown)
	case before.foreign:
		err = hardlink(shown)
	case a.OldStr == "":
		err = tools.Refuse(tools.Validation, "old_str is empty; give the text to replace")
	case a.OldStr == a.NewStr:
		err = tools.Refuse(tools.Validation, "old_str and new_str are the same, so nothing would change")
	case !isText:
		err = tools.Refuse(tools.Execution, "%s is not a text file in UTF-8 or UTF-16, so it can't be edited", shown)
	}
	if err != nil {
		return was, now, at, err
	}
	if was.Form() != "" { // a shell shows the byte order mark, file_read does not
		a.OldStr, a.NewStr = strings.TrimPrefix(a.OldStr, "\ufeff"), strings.TrimPrefix(a.NewStr, "\ufeff")
	}
	places := was.Find(a.OldStr, maxOccurrences)
	if len(places) == 0 {
		places, a.NewStr = a.lastLine(was)
	}
	switch n := len(places); {
	case n == 0:
		err = tools.Refuse(tools.Execution, "old_str not found in %s; %s", shown, advice(was.Body, a.OldStr))
	case n > 1:
		many := fmt.Sprint(n)
		if n > maxOccurrences {
			many = fmt.Sprint("more than ", maxOccurrences)
		}
		err = tools.Refuse(tools.Execution, "old_str found %s times in %s (%s); include more of the surrounding text", many, shown, inLines(places))
	default:
		at, now = places[0], was.Replace(places[0], a.NewStr)
		if now.Body == was.Body {
			err = tools.Refuse(tools.Validation, "nothing would change: an edit keeps the line ends and the form of letters of a file")
		}
	}
	return was, now, at, err
}

// lastLine finds an old_str with a line break that the end of the file does not have.
func (a editArgs) lastLine(was text.Text) (places []text.Span, with string) {
	old, ended := strings.CutSuffix(a.OldStr, "\n")
	if ended {
		places = slices.DeleteFunc(was.Find(old, maxOccurrences), func(s text.Span) bool { return s.To < len(was.Body) })
	}
	return places, strings.TrimSuffix(a.NewStr, "\n")
}

// advice says why a text may not have been found.
func advice(content, old string) string {
	if strings.Contains(blankless(content), blankless(old)) {
		return "it is there with other blanks or line breaks; read the file and copy the text exactly"
	}
	return "read the file and copy the text exactly, blanks included"
}

func blankless(text string) string { return strings.Join(strings.Fields(text), "") }

// maxOccurrences is how many places are counted. Comparing a long text that overlaps
// itself takes its whole length at each.
const maxOccurrences = 1000

// inLines names up to ten lines.
func inLines(places []text.Span) string {
	const most = 10
	var lines []string
	for _, p := range places[:min(len(places), most)] {
		lines = append(lines, fmt.Sprint(p.Line))
	}
	if len(places) > most {
		lines = append(lines, "…")
	}
	return "lines " + strings.Join(lines, ", ")
}

// excerpt shows the lines of a passage and contextLines around it, numbered.
func excerpt(content string, from, to int) string {
	first := strings.Count(content[:from], "\n") + 1
	last := first + strings.Count(content[from:to], "\n")
	var out []string
	n := 0
	for line := range strings.Lines(content) {
		if n++; n >= first-contextLines && n <= last+contextLines {
			out = append(out, fmt.Sprintf("%d|%s", n, strings.TrimRight(line, "\r\n")))
		}
	}
	return strings.Join(out, "\n")
}

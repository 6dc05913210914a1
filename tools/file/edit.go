package file

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
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
	shown, err := f.alter(ctx, alteration{c, a.Path, func(shown string, before snapshot) (outcome, error) {
		if err := a.check(shown, before); err != nil {
			return outcome{}, err
		}
		at := bytes.Index(before.content, []byte(a.OldStr))
		content := bytes.Replace(before.content, []byte(a.OldStr), []byte(a.NewStr), 1)
		around = excerpt(content, at, at+len(a.NewStr))
		return outcome{content: content}, f.fits(content)
	}})
	if err != nil {
		return failed(err, "file", a.Path)
	}
	return changed(fmt.Sprintf("OK: %s edited. It reads there now:\n%s", shown, around), shown)
}

// check refuses an edit that is not clear.
func (a editArgs) check(shown string, before snapshot) error {
	switch {
	case !before.exists():
		return tools.Refuse(tools.NotFound, "file not found: %s", quote(shown))
	case before.foreign:
		return hardlink(shown)
	case a.OldStr == "":
		return tools.Refuse(tools.Validation, "old_str is empty; give the text that shall be replaced")
	case a.OldStr == a.NewStr:
		return tools.Refuse(tools.Validation, "old_str and new_str are the same, so nothing would change")
	case !utf8.Valid(before.content) || bytes.IndexByte(before.content, 0) >= 0:
		return tools.Refuse(tools.Execution, "%s is no text file, so it cannot be edited", quote(shown))
	}
	lines := occurrences(string(before.content), a.OldStr)
	switch len(lines) {
	case 1:
		return nil
	case 0:
		return tools.Refuse(tools.Execution, "old_str not found in %s; %s", quote(shown), advice(string(before.content), a.OldStr))
	}
	many := fmt.Sprint(len(lines))
	if len(lines) > maxOccurrences {
		many = fmt.Sprint("more than ", maxOccurrences)
	}
	return tools.Refuse(tools.Execution, "old_str found %s times in %s (%s); include more of the surrounding text", many, quote(shown), inLines(lines))
}

// advice says why a text may not have been found.
func advice(content, old string) string {
	unix := strings.NewReplacer("\r\n", "\n")
	if strings.Contains(unix.Replace(content), unix.Replace(old)) {
		return `the lines of the file end in \r\n, write them so`
	}
	if strings.Contains(blankless(content), blankless(old)) {
		return "it does stand there with other blanks or line ends; read the file and copy the text exactly"
	}
	return "read the file and copy the text exactly, blanks included"
}

func blankless(text string) string { return strings.Join(strings.Fields(text), "") }

// maxOccurrences is how many places of a text are counted: a long one that overlaps
// itself takes its whole length at each.
const maxOccurrences = 1000

// occurrences lists the lines in which old begins, also where it overlaps, and no
// more than one beyond maxOccurrences.
func occurrences(content, old string) []int {
	var lines []int
	line := 1
	for {
		at := strings.Index(content, old)
		if at < 0 || len(lines) > maxOccurrences {
			return lines
		}
		line += strings.Count(content[:at], "\n")
		lines = append(lines, line)
		_, size := utf8.DecodeRuneInString(old)
		line += strings.Count(content[at:at+size], "\n")
		content = content[at+size:]
	}
}

// inLines names up to ten lines.
func inLines(lines []int) string {
	const most = 10
	text := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lines[:min(len(lines), most)])), ", "), "[]")
	if len(lines) > most {
		text += ", …"
	}
	return "lines " + text
}

// excerpt shows the lines from one place to another and some around them, numbered.
func excerpt(content []byte, from, to int) string {
	first := bytes.Count(content[:from], []byte("\n")) + 1
	last := first + bytes.Count(content[from:to], []byte("\n"))
	var out strings.Builder
	n := 0
	for line := range bytes.Lines(content) {
		if n++; n < first-contextLines || n > last+contextLines {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%d|%s", n, bytes.TrimSuffix(line, []byte("\n")))
	}
	return out.String()
}

package wording

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/engine/internal/locale"
)

// deletion matches a command that deletes one file and does nothing else.
var deletion = regexp.MustCompile(`^rm (?:-[fi] )?(\S+)$`)

// effect says what a call of a tool does, derived from its arguments alone. The exact
// call stands below it. A call that is not plain is only named.
func (w Words) effect(tool string, arguments json.RawMessage) string {
	p, names := effectOf(tool, arguments)
	for _, name := range names {
		if !plainName(name) || w.Redact.Text(name) != name {
			p, names = generic(tool)
			break
		}
	}
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = locale.Ticks(name)
	}
	return w.Say(p, args...)
}

// plainName reports whether the first line of a request may name it: it is short, and
// without signs that a shell, a pattern or a messenger reads in another way.
func plainName(name string) bool {
	const most = 80 // characters
	odd := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("_./:-", r)
	}
	return name != "" && utf8.RuneCountInString(name) <= most && !strings.ContainsAny(name[:1], ":-") && !strings.ContainsFunc(name, odd)
}

// generic is the line for a call whose effect is not known.
func generic(tool string) (locale.Phrase, []string) {
	if tool == "shell" || tool == "git" {
		return locale.ApproveCommand, nil
	}
	return locale.Approve, []string{tool}
}

// effectOf reads the effect of a call and the names in it.
func effectOf(tool string, arguments json.RawMessage) (locale.Phrase, []string) {
	var a struct{ Command, Path, Mode, Method, URL, Action, Extra string }
	if json.Unmarshal(arguments, &a) != nil {
		return generic(tool)
	}
	m, to := deletion.FindStringSubmatch(a.Command), strings.Fields(a.Extra)
	u, err := url.Parse(a.URL)
	switch {
	case tool == "shell" && m != nil:
		return locale.ApproveDelete, m[1:]
	case tool == "file_write" && a.Mode == "append":
		return locale.ApproveAppend, []string{a.Path}
	case tool == "file_write":
		return locale.ApproveOverwrite, []string{a.Path}
	case tool == "file_edit":
		return locale.ApproveEdit, []string{a.Path}
	case tool == "git" && a.Action == "push" && len(to) == 2:
		return locale.ApprovePush, []string{to[1], to[0]}
	case tool == "http_request" && a.Method == "POST" && err == nil:
		return locale.ApprovePost, []string{u.Host}
	}
	return generic(tool)
}

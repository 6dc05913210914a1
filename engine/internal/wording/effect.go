package wording

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"klawbot/engine/internal/locale"
)

// plainName matches what the first line of a request may name: short, and without
// signs that a shell, a pattern or a messenger reads in another way.
var plainName = regexp.MustCompile(`^[\p{L}\p{N}_./][\p{L}\p{N}_./:-]{0,79}$`)

// deletion matches a command that deletes one file and does nothing else.
var deletion = regexp.MustCompile(`^rm (?:-[fi] )?(\S+)$`)

// effect says what a call of a tool does, derived from its arguments alone. The exact
// call stands below it. A call that is not plain is only named.
func (w Words) effect(tool string, arguments json.RawMessage) string {
	p, names := effectOf(tool, arguments)
	for _, name := range names {
		if !plainName.MatchString(name) || w.Redact.Text(name) != name {
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
	case tool == "file_write" && a.Mode != "append":
		return locale.ApproveOverwrite, []string{a.Path}
	case tool == "git" && a.Action == "push" && len(to) == 2:
		return locale.ApprovePush, []string{to[1], to[0]}
	case tool == "http_request" && a.Method == "POST" && err == nil:
		return locale.ApprovePost, []string{u.Host}
	}
	return generic(tool)
}

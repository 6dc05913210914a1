package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"klawbot/internal/redact"
	"klawbot/tools/params"
)

// Show is a call's arguments for a person who decides about them: a line of JSON for
// each, or the lines of its text, without secrets and with invisible characters written
// out. It leaves nothing out, however long that is.
func Show(arguments json.RawMessage, secrets *redact.Set) string {
	args, err := params.Parse(arguments)
	if err != nil {
		return inOrder(Visible(secrets.Text(string(arguments))))
	}
	// Once as it runs and once as it is written: escapes must hide nothing.
	texts := map[string]string{}
	for name, value := range args {
		texts[name] = Visible(secrets.Text(written(scrubbed(value, secrets))))
		if text, is := value.(string); is && strings.Contains(text, "\n") {
			texts[name] = lines(secrets.Text(text), secrets)
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		if !strings.HasPrefix(text, "\n") {
			text = " " + text
		}
		fmt.Fprintf(&b, "%s:%s\n", Visible(name), text)
	}
	return inOrder(strings.TrimSuffix(b.String(), "\n"))
}

// rightToLeft are words in letters that run from right to left.
var rightToLeft = regexp.MustCompile(`[` + leftwards + `]([` + leftwards + `\p{Mn} ]*[` + leftwards + `\p{Mn}])?`)

const leftwards = `\x{0590}-\x{08FF}\x{FB1D}-\x{FDFF}\x{FE70}-\x{FEFC}\x{10800}-\x{10FFF}\x{1E800}-\x{1EFFF}`

// inOrder isolates such words: else the characters of a command would be shown in another
// order than they run.
func inOrder(text string) string { return rightToLeft.ReplaceAllString(text, "\u200e$0\u200e") }

// lines are the lines of a text, each behind a bar that no other line of what is
// shown has, and each written as inside of JSON but for the quotes.
func lines(text string, secrets *redact.Set) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		quoted := written(line)
		inner := strings.NewReplacer(`\\`, `\\`, `\"`, `"`).Replace(quoted[1 : len(quoted)-1])
		b.WriteString("\n│ " + Visible(secrets.Text(inner)))
	}
	return b.String()
}

// scrubbed takes secrets out of the texts of a value.
func scrubbed(v any, secrets *redact.Set) any {
	switch v := v.(type) {
	case string:
		return secrets.Text(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = scrubbed(v[i], secrets)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name := range v {
			object[secrets.Text(name)] = scrubbed(v[name], secrets)
		}
		return object
	}
	return v
}

// written is a value as JSON, with <, > and & as they are.
func written(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v) // decoded JSON can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Visible writes out invisible characters and those that change the order of reading.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

// brailleBlank looks like a blank and is a letter to Unicode.
const brailleBlank = '\u2800'

func hidden(r rune) bool {
	if r == ' ' {
		return false
	}
	return !unicode.IsPrint(r) || r == brailleBlank || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// commandSigns mean something to a shell and are in no key or token.
const commandSigns = "$`;&|()<>{}*?[]!#'\\\n"

// Obscures reports whether Show would mask what may be more than a secret: the
// "password" in https://a:b;rm${IFS}x;@c runs when a shell reads it, and a "token"
// may be a path. A person cannot approve what they cannot read.
func Obscures(arguments json.RawMessage, secrets *redact.Set) bool {
	args, err := params.Parse(arguments)
	if err != nil {
		return obscures(string(arguments), secrets)
	}
	for _, value := range args {
		if obscures(value, secrets) {
			return true
		}
	}
	return false
}

func obscures(v any, secrets *redact.Set) bool {
	switch v := v.(type) {
	case string:
		// Show masks it as it runs and as it is written, where a blank may be \t.
		return slices.ContainsFunc([]string{v, written(v)}, func(text string) bool {
			return slices.ContainsFunc(secrets.Find(text), func(s redact.Span) bool {
				masked := text[s.Start:s.End]
				return strings.ContainsAny(masked, commandSigns) || strings.Contains(masked, "..") || strings.ContainsAny(masked[:1], "/~")
			})
		})
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return obscures(one, secrets) })
	case map[string]any:
		for name, one := range v {
			if obscures(name, secrets) || obscures(one, secrets) {
				return true
			}
		}
	}
	return false
}

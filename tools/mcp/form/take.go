package form

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/budget"
	"klawbot/tools/mcp/shown"
)

// take puts what a person answered into content, or says what is wrong with it.
func (d field) take(r tools.Reply, content map[string]any) (flaw tools.Flaw, bound string) {
	q := d.question()
	if r.Option >= 0 {
		switch q.Options[r.Option].Word {
		case tools.WordSkip:
		case tools.WordKeep:
			d.keep(content)
		case tools.WordYes, tools.WordNo:
			content[d.name] = q.Options[r.Option].Word == tools.WordYes
		default:
			content[d.name] = d.options[r.Option].value
		}
		return "", ""
	}
	value, flaw, bound := d.value(strings.TrimSpace(r.Text))
	if flaw == "" {
		content[d.name] = value
	}
	return flaw, bound
}

func (d field) value(text string) (v any, flaw tools.Flaw, bound string) {
	switch {
	case d.several:
		return d.chosen(text)
	case len(d.options) > 0:
		if v, ok := d.choose(text); ok {
			return v, "", ""
		}
		return nil, tools.FlawOption, ""
	case d.Type == "integer" || d.Type == "number":
		return d.number(text)
	}
	flaw, bound = d.check(text)
	return text, flaw, bound
}

// choose finds the option that is meant by its number, its label or its value.
func (d field) choose(text string) (value string, ok bool) {
	text = strings.TrimSpace(text)
	for _, o := range d.options {
		if strings.EqualFold(text, o.value) || strings.EqualFold(text, o.label) {
			return o.value, true
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(d.options) {
		return d.options[n-1].value, true
	}
	return "", false
}

func (d field) chosen(text string) (v any, flaw tools.Flaw, bound string) {
	values := []string{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
		value, ok := d.choose(part)
		if !ok {
			return nil, tools.FlawOption, ""
		}
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	switch {
	case d.MinItems != nil && len(values) < *d.MinItems:
		return nil, tools.FlawFew, strconv.Itoa(*d.MinItems)
	case d.MaxItems != nil && len(values) > *d.MaxItems:
		return nil, tools.FlawMany, strconv.Itoa(*d.MaxItems)
	}
	return values, "", ""
}

// number reads a number, with a point or a comma.
func (d field) number(text string) (v any, flaw tools.Flaw, bound string) {
	n, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	whole := err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53
	switch {
	case d.Type == "integer" && !whole:
		return nil, tools.FlawInteger, ""
	case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
		return nil, tools.FlawNumber, ""
	case d.Minimum != nil && n < *d.Minimum:
		return nil, tools.FlawSmall, fmt.Sprint(*d.Minimum)
	case d.Maximum != nil && n > *d.Maximum:
		return nil, tools.FlawLarge, fmt.Sprint(*d.Maximum)
	case d.Type == "integer":
		return int64(n), "", ""
	}
	return n, "", ""
}

func (d field) check(text string) (flaw tools.Flaw, bound string) {
	length := utf8.RuneCountInString(text)
	switch {
	case d.MinLength != nil && length < *d.MinLength:
		return tools.FlawShort, strconv.Itoa(*d.MinLength)
	case d.MaxLength != nil && length > *d.MaxLength:
		return tools.FlawLong, strconv.Itoa(*d.MaxLength)
	case !inFormat(d.Format, text):
		return tools.FlawForm, shown.Text(d.Format, maxLabel)
	}
	if form, err := budget.Compile(d.Pattern); err == nil && !form.MatchString(text) {
		return tools.FlawForm, shown.Text(d.Pattern, maxLabel)
	}
	return "", ""
}

// inFormat reports whether a text has a format; an unknown format takes all.
func inFormat(format, text string) bool {
	var err error
	switch format {
	case "email":
		var a *mail.Address
		a, err = mail.ParseAddress(text)
		return err == nil && a.Address == text
	case "uri":
		var u *url.URL
		u, err = url.Parse(text)
		return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "")
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}

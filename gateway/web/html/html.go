// Package html writes HTML from constant patterns. What fills a blank of a pattern is
// escaped for its place. Unlike html/template it needs no reflection, which would keep
// every exported method in the program.
package html

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// HTML is markup. Only patterns and renderers of markup make it.
type HTML string

// pattern is markup with blanks. Other packages can write one only as a constant, so no
// foreign text becomes a pattern.
type pattern string

// F fills each blank %s of a pattern: HTML stays as it is, any other value is escaped. In
// an attribute everything is escaped, and an address leads only to the web, to mail, or to
// a page of this site.
func F(p pattern, values ...any) HTML {
	if strings.Count(string(p), "%s") != len(values) {
		panic(fmt.Sprintf("%d values for the blanks of %s", len(values), p))
	}
	var b strings.Builder
	from := 0
	for _, v := range values {
		at := from + strings.Index(string(p[from:]), "%s")
		b.WriteString(string(p[from:at]))
		b.WriteString(escaped(string(p[:at]), v))
		from = at + len("%s")
	}
	b.WriteString(string(p[from:]))
	return HTML(b.String())
}

// escaped is a value for the place behind a part of a pattern.
func escaped(before string, v any) string {
	text := fmt.Sprint(v)
	if inTag := strings.LastIndexByte(before, '<') > strings.LastIndexByte(before, '>'); !inTag {
		if markup, is := v.(HTML); is {
			return string(markup)
		}
		return html.EscapeString(text)
	}
	at := strings.LastIndex(before, `="`)
	if at < 0 || strings.Contains(before[at+2:], `"`) { // between attributes
		if markup, is := v.(HTML); is {
			return string(markup)
		}
		return ""
	}
	switch name := before[strings.LastIndexByte(before[:at], ' ')+1 : at]; name {
	case "href", "src", "action":
		text = address(before[at+2:], text)
	}
	return html.EscapeString(text)
}

// address is an address, or a part of one behind its beginning.
func address(begin, text string) string {
	switch {
	case strings.Contains(begin, "?"):
		return url.QueryEscape(text)
	case begin != "":
		return url.PathEscape(text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return "#"
	}
	return text
}

// If is a filled pattern when something holds, else nothing. Its values are made in any case.
func If(holds bool, p pattern, values ...any) HTML {
	if !holds {
		return ""
	}
	return F(p, values...)
}

// Each is what a function makes of each value, one behind the other.
func Each[T any](values []T, one func(T) HTML) HTML {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(string(one(v)))
	}
	return HTML(b.String())
}

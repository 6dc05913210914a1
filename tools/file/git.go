package file

import (
	"slices"
	"strings"
)

// protected reports whether a path leads into .git, whose files make git run programs. Some
// file systems accept other spellings of it: another case, ignored characters, blanks and
// dots at the end, a stream, a short name.
func protected(name string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(parts, func(part string) bool {
		part = plainName(part)
		return strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1")
	})
}

// plainName is a name without what some file systems ignore.
func plainName(name string) string {
	name, _, _ = strings.Cut(strings.Map(visible, name), ":")
	return strings.TrimRight(name, " .")
}

// visible drops characters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

package file

import (
	"slices"
	"strings"
)

// protected reports whether a path leads into a .git, whose files make git run
// programs. It also knows the spellings that some file systems take for .git:
// other case, ignored characters, blanks and dots at the end, a stream, a short
// name.
func protected(name string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.ContainsFunc(parts, func(part string) bool {
		part = strings.Map(visible, part)
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(part, " .")
		return strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1")
	})
}

// visible drops what HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

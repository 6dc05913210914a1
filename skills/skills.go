// Package skills holds the skills that come with the program, a folder for each
// one. Skills of the same name in the workspace or the data directory hide them.
package skills

import "embed"

// FS holds the skills by the names of their folders.
//
//go:embed */SKILL.md
var FS embed.FS

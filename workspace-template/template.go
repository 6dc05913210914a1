// Package template holds the files of a fresh workspace. They are the owner's
// from then on: nothing updates a copy.
package template

import "embed"

// FS holds the files by their names in the workspace.
//
//go:embed *.md skills
var FS embed.FS

// Package doc holds the manual, which people read as files and the bot reads
// with its tools.
package doc

import "embed"

// FS holds the pages by their paths: "index.md", "tools/files.md".
//
//go:embed *.md tools/*.md scheduling/*.md
var FS embed.FS

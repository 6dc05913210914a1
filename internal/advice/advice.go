// Package advice names the commands in texts as the program was started, so that an
// advice works as it stands.
package advice

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// command is an advice to run one of the program's commands.
var command = regexp.MustCompile(`\bklawbot (` + strings.Join(Commands(), "|") + `|--help)\b`)

// Commands are the commands that texts name.
func Commands() []string {
	return []string{
		"init", "model", "telegram", "run", "chat", "demo", "allowed", "allow", "deny", "doctor", "status", "health", "sessions", "assets", "mcp", "memory",
		"backup", "restore", "reindex", "export", "import", "tools", "schedule", "skills", "logs", "undo", "policy", "screen", "web", "help",
	}
}

// Text is a text whose commands are named as this process was started.
func Text(text string) string { return By(program(), text) }

var program = sync.OnceValue(func() string {
	called := os.Args[0]
	if found, err := exec.LookPath("klawbot"); err == nil && found == called || strings.Contains(called, "%") { // a % would be read as a blank of a text
		return ""
	}
	return called
})

// By is a text whose commands are named as a program that was started as called. One
// that was found in PATH is klawbot.
func By(called, text string) string {
	if filepath.Base(called) != "klawbot" || !strings.Contains(called, string(filepath.Separator)) {
		return text
	}
	return command.ReplaceAllStringFunc(text, func(c string) string {
		return called + strings.TrimPrefix(c, "klawbot")
	})
}

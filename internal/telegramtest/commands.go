package telegramtest

import (
	"regexp"
	"unicode/utf8"
)

// The limits of the command menu.
const (
	maxCommands    = 100
	maxCommandText = 256  // characters of one description
	maxMenu        = 4096 // bytes of all names and descriptions
)

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// Command is an entry of the command menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// setMyCommands replaces the menu of one scope and language. s.mu is held.
func (s *Server) setMyCommands(p params) (any, *apiError) {
	var list []Command
	if err := p.object("commands", &list); err != nil {
		return nil, badRequest("can't parse commands JSON object")
	}
	total := 0
	for _, c := range list {
		if !commandName.MatchString(c.Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := utf8.RuneCountInString(c.Description); n == 0 || n > maxCommandText {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
		total += len(c.Command) + len(c.Description)
	}
	if len(list) > maxCommands || total > maxMenu {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	s.commands[menu(p)] = list
	return true, nil
}

func (s *Server) getMyCommands(p params) (any, *apiError) {
	return append([]Command{}, s.commands[menu(p)]...), nil
}

// menu is the key of a scope and language.
func menu(p params) string { return p.str("scope") + " " + p.str("language_code") }

// Commands is the menu that everybody sees.
func (s *Server) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Command(nil), s.commands[" "]...)
}

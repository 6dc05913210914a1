package telegramtest

import (
	"slices"
	"strings"
)

func (e Entity) end() int { return e.Offset + e.Length }

// checkEntities checks what can be said of entities without the text, and drops
// those that Telegram finds by itself. s.mu is held.
func (t *formatted) checkEntities(s *Server) *apiError {
	for i, e := range t.entities {
		if err := e.check(s); err != nil {
			return err
		}
		if strings.HasPrefix(strings.ToLower(e.URL), "tg://user?id=") {
			t.entities[i].Type = "text_mention"
		}
	}
	for _, e := range t.entities {
		if e.Offset < 0 || e.Offset > maxOffset {
			return badRequest("receive an entity with incorrect offset %d", e.Offset)
		}
		if e.Length < 0 || e.Length > maxOffset {
			return badRequest("receive an entity with incorrect length %d", e.Length)
		}
	}
	t.entities = slices.DeleteFunc(t.entities, func(e Entity) bool { return e.Length == 0 || e.found() })
	return nil
}

func (e Entity) check(s *Server) *apiError {
	switch e.Type {
	case "bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre",
		"blockquote", "expandable_blockquote", "custom_emoji", "date_time":
		return nil
	case "text_link":
		if fault := checkURL(e.URL); fault != "" {
			return badRequest("entity URL '%s' is invalid: %s", e.URL, fault)
		}
		return nil
	case "text_mention":
		if e.User == nil || s.users[e.User.ID].ID == 0 {
			return badRequest("user not found")
		}
		return nil
	default:
		if e.found() {
			return nil
		}
		return badRequest("can't parse MessageEntity: Unsupported type specified")
	}
}

// found reports whether Telegram finds this kind in the text itself and ignores
// it in what a bot sends.
func (e Entity) found() bool {
	switch e.Type {
	case "mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number":
		return true
	default:
		return false
	}
}

// limit drops entities beyond the hundredth, without a word, and refuses a load
// that is too big. Telegram counts the splittable kinds last.
func (t *formatted) limit() *apiError {
	if len(t.entities) > maxEntities {
		slices.SortStableFunc(t.entities, func(a, b Entity) int { return a.rank() - b.rank() })
		t.entities = t.entities[:maxEntities]
		slices.SortStableFunc(t.entities, func(a, b Entity) int { return a.Offset - b.Offset })
	}
	load := 0
	for _, e := range t.entities {
		load += 12 + len(e.URL) + len(e.Language)
	}
	if load > maxEntityLoad {
		return badRequest("ENTITIES_TOO_LONG")
	}
	return nil
}

func (e Entity) rank() int {
	switch e.Type {
	case "bold", "italic", "underline", "strikethrough", "spoiler":
		return 1
	default:
		return 0
	}
}

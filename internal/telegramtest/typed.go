package telegramtest

import (
	"regexp"
	"slices"
	"strconv"
	"unicode/utf16"
)

// What Telegram finds by itself in a person's text: a word that is a command, a
// mention or a link. The first group is what stands before the word.
var (
	foundWord = regexp.MustCompile(`(^|[\s(])(/[A-Za-z0-9_]{1,32}(?:@[A-Za-z0-9_]{3,32})?|@[A-Za-z][A-Za-z0-9_]{2,31}|https?://[^\s)]+)`)
	personRef = regexp.MustCompile(`\[([^\]\n]+)\]\(tg://user\?id=([0-9]+)\)`)
)

// typed turns what a person typed into a text with its entities. s.mu is held.
func (s *Server) typed(typed string, given []Entity) (string, []Entity) {
	text, entities := s.personRefs(typed)
	entities = append(entities, given...)
	for _, at := range foundWord.FindAllStringSubmatchIndex(text, -1) {
		word := text[at[4]:at[5]]
		kind := "url"
		switch word[0] {
		case '/':
			kind = "bot_command"
		case '@':
			kind = "mention"
		}
		entities = append(entities, Entity{Type: kind, Offset: units(text[:at[4]]), Length: units(word)})
	}
	slices.SortStableFunc(entities, func(a, b Entity) int { return a.Offset - b.Offset })
	return text, entities
}

// personRefs replaces "[name](tg://user?id=7)" by the name and a text_mention.
func (s *Server) personRefs(typed string) (string, []Entity) {
	var text string
	var entities []Entity
	last := 0
	for _, at := range personRef.FindAllStringSubmatchIndex(typed, -1) {
		name := typed[at[2]:at[3]]
		// The pattern allows digits only; a number that is too big names no user.
		id, _ := strconv.ParseInt(typed[at[4]:at[5]], 10, 64)
		u := s.user(id)
		text += typed[last:at[0]]
		entities = append(entities, Entity{Type: "text_mention", Offset: units(text), Length: units(name), User: &u})
		text += name
		last = at[1]
	}
	return text + typed[last:], entities
}

// cut is the part of a text that an entity covers, "" when it does not fit.
func cut(text string, e Entity) string {
	all := utf16.Encode([]rune(text))
	if e.Offset < 0 || e.Length < 0 || e.end() > len(all) {
		return ""
	}
	return string(utf16.Decode(all[e.Offset:e.end()]))
}

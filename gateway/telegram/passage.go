package telegram

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// passage is written text with its formatting, in UTF-16 units as Telegram
// counts. Entities that do not fit the text are left out.
type passage struct {
	units    []uint16
	entities []models.MessageEntity
}

// wordsOf is what a person wrote: the text or the caption.
func wordsOf(m *models.Message) passage {
	if m.Text != "" {
		return newPassage(m.Text, m.Entities)
	}
	return newPassage(m.Caption, m.CaptionEntities)
}

func newPassage(text string, entities []models.MessageEntity) passage {
	p := passage{units: utf16.Encode([]rune(text))}
	for _, e := range entities {
		if e.Offset >= 0 && e.Length > 0 && e.Length <= len(p.units) && e.Offset <= len(p.units)-e.Length {
			p.entities = append(p.entities, e)
		}
	}
	return p
}

func (p passage) empty() bool { return strings.TrimSpace(p.slice(0, len(p.units))) == "" }

func (p passage) slice(from, to int) string { return string(utf16.Decode(p.units[from:to])) }

func (p passage) text(e models.MessageEntity) string { return p.slice(e.Offset, e.Offset+e.Length) }

// command is a command as it was typed, at the very beginning of a passage.
type command struct {
	name string // without slash, in lower case
	bot  string // the bot that was named behind the @, empty for none
	end  int    // where the arguments begin
}

func (p passage) command() (command, bool) {
	for _, e := range p.entities {
		if e.Type == models.MessageEntityTypeBotCommand && e.Offset == 0 {
			name, bot, _ := strings.Cut(strings.TrimPrefix(p.text(e), "/"), "@")
			return command{strings.ToLower(name), bot, e.Length}, name != ""
		}
	}
	return command{}, false
}

// other says that the command is for another bot. While the own name is unknown
// every named bot in a group is taken for another one.
func (k command) other(me string, group bool) bool {
	if k.bot == "" || me == "" && !group {
		return false
	}
	return !strings.EqualFold(k.bot, me)
}

// mentions are the places where the bot is mentioned, by its name or by a link to
// its account, each with the space behind it.
func (p passage) mentions(id int64, me string) []models.MessageEntity {
	var own []models.MessageEntity
	for _, e := range p.entities {
		switch {
		case e.Type == models.MessageEntityTypeTextMention && e.User != nil && e.User.ID == id,
			e.Type == models.MessageEntityTypeMention && me != "" && strings.EqualFold(p.text(e), "@"+me):
			if end := e.Offset + e.Length; end < len(p.units) && p.units[end] == ' ' {
				e.Length++
			}
			own = append(own, e)
		}
	}
	return own
}

// markdown writes the passage from a unit on, with its formatting as Markdown and
// without the cut places.
func (p passage) markdown(from int, cut []models.MessageEntity) string {
	marks := p.marks(from, cut)
	out := make([]uint16, 0, len(p.units))
	for i, unit := range p.units {
		if i < from {
			continue
		}
		out = append(out, marks[i]...)
		if !covered(i, cut) {
			out = append(out, unit)
		}
	}
	out = append(out, marks[len(p.units)]...)
	text := strings.TrimSpace(string(utf16.Decode(out)))
	if covered(0, cut) {
		text = strings.TrimLeft(text, " ,:")
	}
	return text
}

// marks are the Markdown marks by the unit before which they stand. Entities are
// well nested, so what begins first ends last.
func (p passage) marks(from int, cut []models.MessageEntity) map[int][]uint16 {
	marks := map[int][]uint16{}
	for _, e := range p.entities {
		open, end := delimiters(e)
		if open == "" || e.Offset < from || covered(e.Offset, cut) {
			continue
		}
		marks[e.Offset] = append(marks[e.Offset], utf16.Encode([]rune(open))...)
		marks[e.Offset+e.Length] = slices.Concat(utf16.Encode([]rune(end)), marks[e.Offset+e.Length])
	}
	return marks
}

func delimiters(e models.MessageEntity) (open, end string) {
	switch e.Type {
	case models.MessageEntityTypeBold:
		return "**", "**"
	case models.MessageEntityTypeItalic:
		return "_", "_"
	case models.MessageEntityTypeStrikethrough:
		return "~~", "~~"
	case models.MessageEntityTypeCode:
		return "`", "`"
	case models.MessageEntityTypePre:
		return "```" + e.Language + "\n", "\n```"
	case models.MessageEntityTypeTextLink:
		return "[", "](" + e.URL + ")"
	}
	return "", ""
}

// covered says that a unit belongs to one of the places.
func covered(i int, places []models.MessageEntity) bool {
	return slices.ContainsFunc(places, func(e models.MessageEntity) bool {
		return i >= e.Offset && i < e.Offset+e.Length
	})
}

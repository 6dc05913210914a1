package telegram

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"klawbot/internal/clip"

	"github.com/go-telegram/bot/models"
)

// describe names what a message holds besides words, so that the bot can answer it:
// empty when it holds nothing else. Order matters, because some
// contents come with a second one for old clients (a venue with a location).
func describe(m *models.Message) string {
	switch {
	case m.Sticker != nil:
		return label("sticker", strings.TrimSpace(m.Sticker.Emoji+" "+m.Sticker.SetName))
	case m.LivePhoto != nil:
		return label("live photo", "")
	case len(m.Photo) > 0:
		return label("photo", "")
	case m.Voice != nil:
		return label("voice", length(m.Voice.Duration))
	case m.VideoNote != nil:
		return label("video message", length(m.VideoNote.Duration))
	case m.Audio != nil:
		return label("audio", strings.TrimSpace(m.Audio.Performer+" "+m.Audio.Title))
	case m.Animation != nil:
		return label("animation", m.Animation.FileName)
	case m.Video != nil:
		return label("video", m.Video.FileName)
	case m.Document != nil:
		return label("document", m.Document.FileName)
	case m.PaidMedia != nil:
		return label("paid media", "")
	case m.Venue != nil:
		return label("venue", fmt.Sprintf("%s, %s, %s", m.Venue.Title, m.Venue.Address, position(m.Venue.Location)))
	case m.Location != nil:
		return label("location", position(*m.Location))
	}
	return describeOther(m)
}

// describeOther is the second half of describe: what is rarely sent to a bot.
func describeOther(m *models.Message) string {
	switch {
	case m.Contact != nil:
		return label("contact", strings.Join([]string{m.Contact.FirstName, m.Contact.LastName, m.Contact.PhoneNumber}, " "))
	case m.Poll != nil:
		return label("poll", m.Poll.Question+" "+options(m.Poll.Options))
	case m.Dice != nil:
		return label("dice", fmt.Sprintf("%s %d", m.Dice.Emoji, m.Dice.Value))
	case m.Checklist != nil:
		return label("checklist", m.Checklist.Title+" "+tasks(m.Checklist.Tasks))
	case m.Game != nil:
		return label("game", m.Game.Title)
	case m.Invoice != nil:
		return label("invoice", m.Invoice.Title)
	}
	for name, is := range map[string]bool{
		"story": m.Story != nil, "gift": m.Gift != nil || m.UniqueGift != nil,
		"giveaway": m.Giveaway != nil || m.GiveawayWinners != nil, "rich message": m.RichMessage != nil,
	} {
		if is {
			return label(name, "")
		}
	}
	return ""
}

// unknownContent names content that is newer than the library, empty for none.
// What the library knows and describe does not is a service message.
func unknownContent(body json.RawMessage) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return ""
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[models.Message]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		delete(fields, name)
	}
	// Fields of the Bot API before 7.0, which old servers still send.
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return strings.HasPrefix(name, "forward_") })
	if len(fields) == 0 {
		return ""
	}
	return label("unsupported message", strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

// maxLabel bounds the foreign text in a label.
const maxLabel = 300

// label is what stands for a content: "[document report.pdf]", on one line.
func label(what, detail string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '[' || r == ']' {
			return ' '
		}
		return r
	}, detail)
	clean = strings.Join(strings.Fields(clean), " ")
	return "[" + strings.TrimSpace(what+" "+clip.Runes(clean, maxLabel)) + "]"
}

// length is a duration as "0:07".
func length(seconds int) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }

func position(l models.Location) string { return fmt.Sprintf("%.5f, %.5f", l.Latitude, l.Longitude) }

func options(all []models.PollOption) string {
	var b strings.Builder
	for i, o := range all {
		fmt.Fprintf(&b, "%d) %s ", i+1, o.Text)
	}
	return b.String()
}

func tasks(all []models.ChecklistTask) string {
	var b strings.Builder
	for _, t := range all {
		box := "☐"
		if t.CompletionDate != 0 {
			box = "☑"
		}
		fmt.Fprintf(&b, "%s %s ", box, t.Text)
	}
	return b.String()
}

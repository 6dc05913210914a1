package turn

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
)

// continueNote asks for the rest of an answer. Like nudge it is never stored.
const continueNote = "(Your answer was cut at the token limit. Continue it exactly where it stopped, without repeating or explaining anything.)"

// complete asks once for the rest of an answer that the token limit cut. What is still
// cut is marked below the answer.
func (t *turn) complete(ctx context.Context, c model.Candidate, r llm.Request, first llm.Result) (llm.Result, error) {
	said := first.Message.PlainText()
	r.Messages = with(with(r.Messages, llm.Text(llm.RoleAssistant, said)), llm.Text(llm.RoleUser, continueNote))
	t.begun = said
	rest, err := t.call(ctx, c, r)
	t.begun = ""
	if ctx.Err() != nil {
		return rest, err
	}
	if err != nil || isEmpty(rest.Message) {
		t.Log.Warn("answer cut at the token limit", "model", c.Name, "err", err)
		t.notes = append(t.notes, locale.Say(t.settings.Language, locale.AnswerCut))
		return first, nil
	}
	if rest.Stop == llm.StopMaxTokens && len(rest.Message.Calls()) == 0 {
		t.Log.Warn("answer cut at the token limit, also its rest", "model", c.Name)
		t.notes = append(t.notes, locale.Say(t.settings.Language, locale.AnswerCut))
	}
	whole := slices.DeleteFunc(slices.Clone(rest.Message.Blocks), func(b llm.Block) bool { return b.Text != "" })
	at := slices.IndexFunc(whole, func(b llm.Block) bool { return b.Call != nil })
	if at < 0 {
		at = len(whole)
	}
	rest.Message.Blocks = slices.Insert(whole, at, llm.Block{Text: joinCut(said, rest.Message.PlainText())})
	rest.Usage.Input, rest.Usage.Output = max(first.Usage.Input, 0)+max(rest.Usage.Input, 0), max(first.Usage.Output, 0)+max(rest.Usage.Output, 0)
	return rest, nil
}

// isEmpty reports whether a message has neither words nor calls.
func isEmpty(m llm.Message) bool {
	return len(m.Calls()) == 0 && strings.TrimSpace(m.PlainText()) == ""
}

const (
	// leastOverlap is how many bytes at the end of an answer its rest must repeat to
	// be taken for a repetition, mostOverlap how many are compared at most.
	leastOverlap, mostOverlap = 8, 2000
	// sameStart is how many bytes say that a model began its answer again.
	sameStart = 40
)

// joinCut joins an answer and its rest, which may repeat some of it.
func joinCut(said, rest string) string {
	trimmed := strings.TrimSpace(rest)
	if len(said) >= sameStart && strings.HasPrefix(trimmed, strings.TrimSpace(said[:sameStart])) {
		if len(trimmed) > len(said)/2 {
			return trimmed
		}
		return said
	}
	for n := min(len(said), len(trimmed), mostOverlap); n >= leastOverlap; n-- {
		if strings.HasSuffix(said, trimmed[:n]) {
			return said + trimmed[n:]
		}
	}
	last, _ := utf8.DecodeLastRuneInString(said)
	first, _ := utf8.DecodeRuneInString(rest)
	if spaced(last) && spaced(first) || strings.ContainsRune(",.;:!?", last) && spaced(first) {
		return said + " " + rest
	}
	return said + rest
}

// spaced reports whether a rune is of a word that blanks part from others.
func spaced(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// spoken is what a turn has said beside its calls, in order.
type spoken struct {
	words []string
	// run says that a job reports only its last words, if there are some.
	run bool
}

func (s *spoken) add(words string) {
	if words = strings.TrimSpace(words); words != "" {
		s.words = append(s.words, words)
	}
}

// with is a text behind the earlier words of the turn.
func (s spoken) with(text string) string {
	text = strings.TrimSpace(text)
	if s.run && text != "" {
		return text
	}
	var parts []string
	for i, words := range s.words {
		if !strings.Contains(text, words) && !slices.Contains(s.words[i+1:], words) {
			parts = append(parts, words)
		}
	}
	if text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// finalText is what the person reads at the end: all words of the turn, and why there
// are no more.
func (t *turn) finalText(last llm.Message) string {
	text := t.spoken.with(last.PlainText())
	var why string
	switch {
	case t.looping && t.wantedMore:
		why = locale.Say(t.settings.Language, locale.LoopStopped)
	case t.wantedMore:
		why = locale.Say(t.settings.Language, locale.LimitStopped, t.settings.MaxToolCallRounds)
	case text == "":
		why = locale.Say(t.settings.Language, locale.NoAnswer)
	}
	switch {
	case why == "":
	case text == "":
		text = why
	default:
		t.notes = append(t.notes, why)
	}
	for _, line := range t.notes {
		text += "\n\n(" + line + ")"
	}
	return text
}

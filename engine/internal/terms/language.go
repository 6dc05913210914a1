package terms

import (
	"strings"
	"unicode"
)

// foreignWords are common words of other languages in Latin letters that hardly any
// English text has: first German, French, Spanish, Italian, Portuguese and Dutch, then
// languages of the north and the east of Europe, Turkish and Indonesian.
var foreignWords = wordSet(`
		der das und ist nicht ein eine einen mit für auf ich wir den dem von zu sich auch bei zum zur im war wird haben
		le la les des est et une dans pour je que qui pas avec sur du au ce mon ma mes nous vous
		el los las una con para por del se lo como más mi su es en y está muy
		il gli che di per non sono della nel ho mio è da um uma não em os na meu é
		het een van niet voor ik de zijn op te dat
		och jag inte jeg ikke og det er til har med som att är på av ja ei että minun
		jest nie się że czy dla oraz w z je se jsem není su za egy és nem hogy și este pentru
		bir için ile değil yang untuk dengan saya tidak adalah itu không của tôi`)

// sharedWords are common in English and in other languages.
var sharedWords = wordSet("is in was had of me a on so am an no he as do will s t d m i")

// English reports whether a text is English; shows is false where too few words tell.
func English(text string) (is, shows bool) {
	const strong, weak, accent = 3, 1, 2
	all, plain, english, foreign := 0, 0, 0, 0
	for _, w := range words(fold(text)) {
		switch {
		case w.way == symbol || isNumber(w.text):
			continue
		case foreignWords[w.text]:
			foreign += strong
		case sharedWords[w.text]:
			english += weak
		case englishWords[w.text]:
			english += strong
		}
		if all++; w.way == latin {
			plain++
		}
	}
	if 2*plain < all { // another script
		return false, true
	}
	foreign += accent * accented(text)
	return english >= foreign, english+foreign >= 2*accent
}

// accented counts the words in Latin letters that English does not have.
func accented(text string) int {
	n := 0
	for _, w := range words(strings.ToLower(text)) {
		if strings.ContainsFunc(w.text, func(r rune) bool {
			return r > unicode.MaxASCII && unicode.In(r, unicode.Latin, unicode.Mn)
		}) {
			n++
		}
	}
	return n
}

const (
	// fewTexts tell nothing.
	fewTexts = 10
	// clearly is how many times as many English texts as others there must be before
	// texts that were not English are judged English.
	clearly = 3
)

// MostlyForeign reports whether most of the texts whose language shows are not English.
// before is what was found earlier: it stays until the texts clearly say otherwise, so
// that a few messages do not change it again and again.
func MostlyForeign(texts []string, before bool) bool {
	english, foreign := 0, 0
	for _, text := range texts {
		switch is, shows := English(text); {
		case !shows:
		case is:
			english++
		default:
			foreign++
		}
	}
	if before {
		return english < fewTexts || english < clearly*foreign
	}
	return foreign >= fewTexts && foreign > english
}

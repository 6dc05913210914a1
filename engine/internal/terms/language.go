package terms

// foreignWords are common words of German, French, Spanish, Italian, Portuguese and
// Dutch that hardly any English text has.
var foreignWords = wordSet(`
		der das und ist nicht ein eine einen mit für auf ich wir den dem von zu sich auch bei zum zur im war wird haben
		le la les des est et une dans pour je que qui pas avec sur du au ce mon ma mes nous vous
		el los las una con para por del se lo como más mi su es en y está muy
		il gli che di per non sono della nel ho mio è da um uma não em os na meu é
		het een van niet voor ik de zijn op te dat`)

// English reports whether a text is English; shows is false where too few words tell.
func English(text string) (is, shows bool) {
	all, plain, english, foreign := 0, 0, 0, 0
	for _, w := range words(fold(text)) {
		switch {
		case w.way == symbol || isNumber(w.text):
			continue
		case foreignWords[w.text]:
			foreign++
		case englishWords[w.text]:
			english++
		}
		if all++; w.way == latin {
			plain++
		}
	}
	if 2*plain < all { // another script
		return false, true
	}
	return english >= foreign, english+foreign >= 2
}

// fewTexts tell nothing.
const fewTexts = 20

// MostlyForeign reports whether most of the texts whose language shows are not English.
func MostlyForeign(texts []string) bool {
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
	return foreign >= fewTexts && foreign > english
}

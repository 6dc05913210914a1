package terms

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters are letters that are written in another way without an accent: by users who
// do not have them, or in capitals.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
	"№", "№ ", "ς", "σ", "\u2010", "-", "\u2011", "-", "ʼ", "'", "ʻ", "'", "♯", "#", "⁄", "/", "ٱ", "ا", "ى", "ي", "ة", "ه", "ک", "ك", "ی", "ي", "ـ", "")

// fold writes in one way what is written differently and means the same: small
// letters, no accents and vowel points, plain digits.
func fold(text string) string {
	var b, plain strings.Builder
	b.Grow(len(text))
	flush := func() {
		foldLetters(&b, plain.String())
		plain.Reset()
	}
	for _, r := range text {
		switch {
		case r == '\u200b' || r == '\u200c': // where a word ends without a space
			plain.WriteByte(' ')
		case r == joiner || isTag(r):
			flush()
			b.WriteRune(r)
		case unicode.Is(unicode.Cf, r) || isVariation(r) || r == keycap:
		case r > unicode.MaxASCII && isSign(r):
			flush()
			b.WriteRune(r)
		case r > unicode.MaxASCII && unicode.IsDigit(r):
			plain.WriteRune(digit(r))
		default:
			plain.WriteRune(r)
		}
	}
	flush()
	return b.String()
}

// foldLetters folds a text without signs.
func foldLetters(b *strings.Builder, text string) {
	decomposed := norm.NFKD.String(letters.Replace(strings.ToLower(text)))
	kept := make([]rune, 0, len(decomposed))
	var last rune
	for _, r := range decomposed {
		if unicode.Is(unicode.Mn, r) && isPoint(last, r) {
			continue
		}
		kept = append(kept, r)
		last = r
	}
	b.WriteString(letters.Replace(norm.NFC.String(string(kept))))
}

// isPoint reports whether a mark on a letter is one that people leave out: an accent,
// a vowel point, the points of ё. Elsewhere marks tell letters and words apart.
func isPoint(letter, mark rune) bool {
	switch {
	case unicode.Is(unicode.Cyrillic, letter):
		stress := mark == '\u0301' || mark == '\u0300'
		return stress && strings.ContainsRune("аеиоуыэюяєі", letter) || mark == '\u0308' && letter == 'е'
	case letter < unicode.MaxASCII:
		return unicode.IsLetter(letter)
	}
	return unicode.In(letter, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew)
}

// digit is a decimal digit of any script as the one of ASCII.
func digit(r rune) rune {
	for _, all := range unicode.Nd.R16 {
		if rune(all.Lo) <= r && r <= rune(all.Hi) {
			return '0' + (r-rune(all.Lo))%10
		}
	}
	return r // NFKD knows the others
}

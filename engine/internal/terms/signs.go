package terms

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// What belongs to the sign before it.
const (
	joiner = '\u200d' // joins emoji to another one
	keycap = '\u20e3' // around a digit
)

func isTag(r rune) bool       { return r >= 0xe0020 && r <= 0xe007f } // of the flag of a region
func isVariation(r rune) bool { return r == '\ufe0e' || r == '\ufe0f' }
func isTone(r rune) bool      { return r >= 0x1f3fb && r <= 0x1f3ff }

// Signs that are punctuation for Unicode, and those of ASCII that people search for.
const (
	otherSigns = "§¶†‡‰•※"
	asciiSigns = "$%&+=<>#@"
)

// isSign reports whether a rune is indexed though it is no letter and no digit: emoji,
// currencies, the signs of mathematics. What stands for letters, as ℃, is not.
func isSign(r rune) bool {
	switch {
	case r <= unicode.MaxASCII:
		return strings.ContainsRune(asciiSigns, r)
	case strings.ContainsRune(otherSigns+"™℠", r) || isTone(r):
		return true
	case !unicode.IsSymbol(r) || unicode.Is(unicode.Sk, r):
		return false
	}
	return !strings.ContainsFunc(norm.NFKD.String(string(r)), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// cluster is the sign at the beginning of a folded text as people see it: a flag is
// two letters, a family several emoji.
func cluster(text string) string {
	if text[0] < 0x80 {
		return text[:1]
	}
	all, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return all
}

// emoji are the terms of a sign: without the tone of the skin, then with it, then its
// parts, as the laptop of a woman with one.
func emoji(sign string) []string {
	plain := strings.Map(func(r rune) rune {
		if isTone(r) {
			return -1
		}
		return r
	}, sign)
	all := []string{plain, sign}
	if plain == "" {
		all = all[1:]
	}
	if parts := strings.Split(plain, string(joiner)); len(parts) > 1 {
		all = append(all, parts...)
	}
	slices.Sort(all[1:])
	return slices.Compact(all)
}

// mood are the signs that people end a message with: they say little about what is
// asked. Hands, hearts and faces.
var mood = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2639, Hi: 0x263a, Stride: 1}, {Lo: 0x2764, Hi: 0x2764, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x1f44b, Hi: 0x1f44f, Stride: 1}, {Lo: 0x1f493, Hi: 0x1f49f, Stride: 1}, {Lo: 0x1f600, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f90d, Hi: 0x1f93e, Stride: 1}, {Lo: 0x1f970, Hi: 0x1f97a, Stride: 1},
	},
}

// tells reports whether a sign says what a question with words is about: 🔴 does, %
// and 😊 do only where there is nothing else.
func tells(sign string) bool {
	r := []rune(sign)[0]
	return r >= 0x2190 && unicode.Is(unicode.So, r) && !unicode.Is(mood, r)
}

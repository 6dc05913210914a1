package charset

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
)

// candidates are the encodings that a guess can find. Where nothing speaks for another
// one it is the first.
var candidates = []string{
	"windows-1252", "windows-1251", "koi8-r", "koi8-u", "ibm866", "iso-8859-5", "iso-8859-2", "windows-1250", "windows-1253", "iso-8859-7",
	"windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-874", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5",
}

// kin are encodings with nearly the same letters as one that chardet names.
var kin = map[string][]string{
	"koi8-r": {"koi8-u"}, "iso-8859-2": {"windows-1250"}, "windows-1250": {"iso-8859-2"}, "iso-8859-7": {"windows-1253"},
	"windows-1253": {"iso-8859-7"}, "iso-8859-8": {"windows-1255"}, "iso-8859-8-i": {"windows-1255"},
}

// alphabets are the accented letters of languages with Latin letters.
var alphabets = []string{
	"äöüßéà", "éèêëïçñöâôüå", "àâæçéèêëîïôùûüÿœ", "áéíñóúüºª", "àáâãçéêíóôõúü", "àèéìíîòóùú", "åäöéüàæø", "áðéíóúýþæö", "çğıîöşüâ", // windows-1252, -1254
	"ąćęłńóśźż", "áčďéěíňóřšťúůýžäľĺôŕ", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", // windows-1250
	"ąčęėįšųūž", "āčēģīķļņšūžõŗ", "äõöüšž", // windows-1257
}

// unusual counts the accented letters that the language with the best alphabet lacks.
func unusual(text string) int {
	least := -1
	for _, alphabet := range alphabets {
		n := 0
		for _, r := range text {
			if r >= utf8.RuneSelf && unicode.Is(unicode.Latin, r) && !strings.ContainsRune(alphabet, unicode.ToLower(r)) {
				n++
			}
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return least
}

// guess finds out the encoding from the letters of a text: chardet knows which are usual
// in a language, and misfit which never stand together.
func guess(body []byte) string {
	if shifts(body) {
		return "iso-2022-jp"
	}
	words := sample(body)
	if onlySigns(words) {
		return candidates[0]
	}
	usual := map[string]int{}
	found, _ := chardet.NewTextDetector().DetectAll(words) // an error means nothing found
	for _, f := range found {
		name := lookup(f.Charset)
		for _, name := range append(kin[name], name) {
			usual[name] = max(usual[name], f.Confidence)
		}
	}
	best, most := "", 0.0
	for _, name := range candidates {
		text := decode(words, name)
		if score := float64(usual[name]) + fit(name, text, words) - 300*misfit(text); best == "" || score > most {
			best, most = name, score
		}
	}
	return best
}

// signs are those of windows-1252 that stand alone in English and with figures.
const signs = "°²³¹½¼¾£€¥¢µºª§©®±×÷·«»™•…–—‘’“”"

// onlySigns reports whether a text has nothing beyond ASCII but such signs, each alone. To
// another encoding they would be letters, or halves of characters: "21°C", "45 m²".
func onlySigns(words []byte) bool {
	last := rune(0)
	for _, r := range decode(words, candidates[0]) {
		if r >= utf8.RuneSelf && (last >= utf8.RuneSelf || !strings.ContainsRune(signs, r)) {
			return false
		}
		last = r
	}
	return len(words) > 0
}

// shifts reports whether ASCII holds Japanese characters (ISO-2022-JP).
func shifts(body []byte) bool {
	return bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@"))
}

// maxSample bounds the words of a guess, in bytes.
const maxSample = 16 << 10

// sample is the words of a text that are not ASCII. No encoding uses what separates words
// here, in a text or in markup, within its characters.
func sample(body []byte) (words []byte) {
	separates := func(c rune) bool { return bytes.ContainsRune([]byte(" \t\r\n<>=\"'/&;"), c) }
	for len(body) > 0 && len(words) < maxSample {
		at := bytes.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
		if at < 0 {
			break
		}
		from := bytes.LastIndexFunc(body[:at], separates) + 1
		to := bytes.IndexFunc(body[at:], separates)
		if to < 0 {
			to = len(body) - at
		}
		words = append(append(words, body[from:at+to]...), ' ')
		body = body[at+to:]
	}
	return words
}

// usualRows are the first bytes of the characters that most Chinese texts are written
// in; the others come in names.
var usualRows = map[string][2]byte{"gb18030": {0xb0, 0xd7}, "big5": {0xa4, 0xc6}}

// usualCyrillic are the letters of which two thirds of most Cyrillic texts consist.
const usualCyrillic = "оеаинтсрвлкмОЕАИНТСРВЛКМ"

// fewRussian is a text of up to three short words in Russian. Their bytes make words of
// Hebrew, Korean or Japanese as well, which hardly any text this short is.
var fewRussian = regexp.MustCompile(`^\PL*[А-Ща-щЭ-Яэ-яЁё][а-щы-яё]{1,5}(?:\PL+[А-Ща-щЭ-Яэ-яЁё][а-щы-яё]{0,5}){0,2}\PL*$`)

// fit speaks for an encoding whose text has the usual letters of its languages alone. A short
// text has too few of them for chardet.
func fit(name, text string, words []byte) float64 {
	if rows, ok := usualRows[name]; ok {
		usual, all := 0, 0
		for i := 0; i < len(words); i++ {
			if words[i] >= utf8.RuneSelf {
				if all++; rows[0] <= words[i] && words[i] <= rows[1] {
					usual++
				}
				i++
			}
		}
		if usual*10 < all*7 {
			return -50
		}
	}
	letters, hangul, kana, han, hebrew, cyrillic, common := 0, 0, 0, 0, 0, 0, 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf || !unicode.IsLetter(r):
			continue
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.Is(unicode.Hebrew, r):
			hebrew++
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
			common += strings.Count(usualCyrillic, string(r))
		}
		letters++
	}
	switch {
	case letters == 0:
		return 0
	case name == "windows-1251" && fewRussian.MatchString(text) && strings.ContainsAny(text, "аеёиоуыэюя"):
		return 75
	case name == "euc-kr" && hangul < han:
		return -50
	case (name == "shift_jis" || name == "euc-jp") && kana == 0:
		return -30
	case name == "euc-kr" && hangul == letters, hebrew == letters, (name == "shift_jis" || name == "euc-jp") && kana > 0 && kana+han == letters:
		return 50
	case (name == "gb18030" || name == "big5") && han == letters:
		return 20
	case cyrillic == letters:
		return 80*float64(common)/float64(letters) - 24
	}
	return 0
}

// scripts are those whose letters do not mix within a word.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai, unicode.Hangul}

// misfit is how much a text looks as if it was read in the wrong encoding, for each
// character beyond ASCII: unknown characters, scripts or signs that mix within a word,
// capitals after small letters.
func misfit(text string) float64 {
	faults, others := float64(unusual(text))/2, 0.0
	var last rune
	for _, r := range text {
		if r >= utf8.RuneSelf {
			others++
		}
		letters := unicode.IsLetter(last) && unicode.IsLetter(r)
		switch {
		case r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && r >= utf8.RuneSelf && r != '\u00ad':
			faults += 3
		case '\uff61' <= r && r <= '\uff9f': // half the width, which few Japanese pages have
			faults += 0.2
		case r >= utf8.RuneSelf && unicode.IsLetter(last) && (unicode.IsSymbol(r) || unicode.IsNumber(r)):
			faults++
		case unicode.Is(unicode.Hebrew, r) && unicode.IsMark(r) && !unicode.IsLetter(last):
			faults++
		case letters && (script(last) != script(r) || strings.ContainsRune("ךםןףץ", last)): // these end words
			faults++
		case letters && unicode.IsLower(last) && unicode.IsUpper(r):
			faults += 0.5
		}
		last = r
	}
	return faults / max(others, 1)
}

func script(r rune) int {
	for i, s := range scripts {
		if unicode.Is(s, r) {
			return i
		}
	}
	return len(scripts)
}

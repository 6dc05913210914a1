package injection

import (
	"html"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text in its plain form: lower case, one width, without accents and
// invisible characters, entities and escapes decoded, typographic marks as ASCII.
type folded struct {
	text   []byte
	hidden []string // texts in invisible characters
	turned bool     // the text asks to be shown from right to left
	tags   bool     // it has HTML tags
	coded  bool     // it has long words that may be encoded text
}

// minCoded is the shortest word that may be encoded text, in bytes.
const minCoded = 20

// fold brings text into its plain form.
func fold(text string) folded {
	f := folder{text: text}
	f.out = make([]byte, 0, len(text)+len(text)/8)
	for f.at < len(f.text) {
		if c := f.text[f.at]; c < utf8.RuneSelf {
			f.ascii(c)
		} else {
			f.rune()
		}
	}
	f.endRun()
	f.reveal()
	f.folded.text = f.out
	return f.folded
}

type folder struct {
	folded
	text string
	at   int
	out  []byte
	run  int // characters in a row that may be encoded text
	// tagged and selected are texts in tag letters and in variation selectors.
	tagged, selected []byte
	flag             int // where the tag letters of a flag may begin
	// others are plain forms of characters beyond the table.
	others map[rune]string
}

// ascii reads an ASCII character, or an entity or escape that it begins.
func (f *folder) ascii(c byte) {
	f.at++
	if lower := plain[c]; lower != 0 {
		f.out = append(f.out, lower)
		f.run++
		return
	}
	if c != '+' && c != '/' && c != '=' {
		f.endRun()
	} else {
		f.run++
	}
	switch {
	case c == '&' && f.entity(), c == '\\' && f.escape(), c == '%' && f.percent():
		return
	case c == '\n' || c > ' ' && c < 0x7f:
		f.out = append(f.out, c)
		if c == '<' {
			f.tags = true
		}
	default:
		f.out = append(f.out, ' ')
	}
}

func (f *folder) endRun() {
	f.coded = f.coded || f.run >= minCoded
	f.run = 0
}

// plain maps the letters and digits of ASCII to lower case.
var plain = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[c] = byte(unicode.ToLower(r))
		}
	}
	return t
}()

// maxEntity is the longest entity that is read, in bytes after the &.
const maxEntity = 10

// entity reads an HTML entity after its &.
func (f *folder) entity() bool {
	end := strings.IndexByte(f.text[f.at:min(len(f.text), f.at+maxEntity)], ';')
	if end < 1 {
		return false
	}
	written := f.text[f.at-1 : f.at+end+1]
	read := html.UnescapeString(written)
	if read == written {
		return false
	}
	f.at += end + 1
	for _, r := range read {
		f.put(r)
	}
	return true
}

// escape reads an escape of a programming language after its backslash.
func (f *folder) escape() bool {
	if f.at >= len(f.text) {
		return false
	}
	digits := 0
	switch f.text[f.at] {
	case 'n':
		f.out = append(f.out, '\n')
		f.at++
		return true
	case 'r', 't':
		f.out = append(f.out, ' ')
		f.at++
		return true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	return digits > 0 && f.number(f.at+1, digits)
}

// percent reads an escape of a URL after its %.
func (f *folder) percent() bool { return f.number(f.at, 2) }

// number reads a character in hexadecimal digits.
func (f *folder) number(from, digits int) bool {
	if from+digits > len(f.text) {
		return false
	}
	n, err := strconv.ParseUint(f.text[from:from+digits], 16, 21)
	if err != nil || digits == 2 && n >= utf8.RuneSelf {
		return false
	}
	f.at = from + digits
	f.put(rune(n))
	return true
}

// rune reads a character beyond ASCII.
func (f *folder) rune() {
	f.endRun()
	r, size := utf8.DecodeRuneInString(f.text[f.at:])
	f.at += size
	f.put(r)
}

// put adds a character in its plain form.
func (f *folder) put(r rune) {
	switch {
	case r < utf8.RuneSelf:
		switch lower := plain[max(r, 0)]; {
		case lower != 0:
			f.out = append(f.out, lower)
		case r > ' ' && r < 0x7f || r == '\n':
			f.out = append(f.out, byte(r))
		default:
			f.out = append(f.out, ' ')
		}
	case r < tableEnd:
		f.out = append(f.out, foldTable()[r]...)
	case cjk(r):
		f.joinCJK()
		f.out = utf8.AppendRune(f.out, r)
	case 0xe0020 <= r && r < 0xe007f:
		f.tagged = append(f.tagged, byte(r-0xe0000))
	case r == 0x1f3f4:
		f.flag = len(f.tagged)
	case r == 0xe007f:
		if len(f.tagged)-f.flag <= maxFlag {
			f.tagged = f.tagged[:f.flag]
		}
	case 0xfe00 <= r && r <= 0xfe0f:
		f.selected = append(f.selected, byte(r-0xfe00))
	case 0xe0100 <= r && r <= 0xe01ef:
		f.selected = append(f.selected, byte(r-0xe0100+16))
	case r == 0x202d, r == 0x202e:
		f.turned = true
	default:
		p, known := f.others[r]
		if !known {
			if p = foldRune(r); f.others == nil {
				f.others = map[rune]string{}
			}
			f.others[r] = p
		}
		f.out = append(f.out, p...)
	}
}

// joinCJK removes a blank between two ideographs.
func (f *folder) joinCJK() {
	n := len(f.out)
	if n < 4 || f.out[n-1] != ' ' {
		return
	}
	if r, _ := utf8.DecodeLastRune(f.out[:n-1]); cjk(r) {
		f.out = f.out[:n-1]
	}
}

// minUnseen is the shortest invisible text: emoji have single selectors.
const minUnseen = 8

// maxFlag is how many tag letters the flag of a country has.
const maxFlag = 6

// reveal decodes the invisible characters.
func (f *folder) reveal() {
	if len(f.tagged) >= minUnseen {
		f.hidden = append(f.hidden, string(f.tagged))
	}
	if len(f.selected) >= minUnseen && printable(f.selected) {
		f.hidden = append(f.hidden, string(f.selected))
	}
}

// tableEnd ends the characters whose plain forms are in a table.
const tableEnd = 0x2100

var foldTable = sync.OnceValue(func() *[tableEnd]string {
	var t [tableEnd]string
	for r := range t {
		t[r] = foldRune(rune(r))
	}
	return &t
})

// foldRune is the plain form of a character.
func foldRune(r rune) string {
	if p, ok := marks[r]; ok {
		return p
	}
	if p := boxed(r); p != 0 {
		return string(p)
	}
	var b strings.Builder
	for _, d := range norm.NFKD.String(string(r)) {
		switch d = unicode.ToLower(d); {
		case unicode.In(d, unicode.Mn, unicode.Cf, unicode.Variation_Selector), d == 'ـ', d == '\u115f', d == '\u1160', d == '\u3164':
		case unicode.IsSpace(d), unicode.IsControl(d):
			b.WriteByte(' ')
		default:
			b.WriteRune(d)
		}
	}
	return b.String()
}

// marks are signs with a plain form that NFKD lacks.
var marks = map[rune]string{
	'“': `"`, '”': `"`, '„': `"`, '«': `"`, '»': `"`, '「': `"`, '」': `"`, '『': `"`, '』': `"`, '‹': "'", '›': "'", '‘': "'", '’': "'", '‚': "'",
	'。': ". ", '、': ", ", '，': ", ", '：': ": ", '；': "; ", '！': "! ", '？': "? ", '،': ", ", '؛': "; ", '؟': "? ", '।': ". ",
	'–': "-", '—': "-", '‐': "-", '‑': "-", '\u2028': "\n", '\u2029': "\n\n", 'ß': "ss", 'ı': "i", 'ł': "l", 'ø': "o", 'ё': "е", '▁': "_",
	'ɑ': "a", 'ɡ': "g", 'ɢ': "g", 'ɪ': "i", 'ɴ': "n", 'ʀ': "r", 'ᴏ': "o", 'ᴇ': "e", 'ᴀ': "a", 'ᴛ': "t", 'ᴜ': "u", 'ᴠ': "v", 'ᴘ': "p", 'ᴄ': "c", 'ᴅ': "d", 'ᴍ': "m", 'ᴋ': "k", 'ʟ': "l", 'ʏ': "y", 'ᴡ': "w", 'ʙ': "b", 'ꜱ': "s", 'ʜ': "h", 'ꜰ': "f", 'ᴊ': "j", 'ᴢ': "z",
}

// boxed is a letter in a box or a circle, or 0.
func boxed(r rune) rune {
	for _, first := range []rune{0x1f130, 0x1f150, 0x1f170, 0x1f1e6} {
		if r >= first && r < first+26 {
			return 'a' + r - first
		}
	}
	return 0
}

// cjk reports whether a script has no blanks between words.
func cjk(r rune) bool {
	return 0x3041 <= r && r <= 0x30ff || 0x3400 <= r && r <= 0x9fff || 0x20000 <= r && r <= 0x3ffff
}

// printable reports whether bytes are readable text.
func printable(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	odd := 0
	for _, r := range string(text) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			odd++
		}
	}
	return odd*20 <= len(text)
}

package terms

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// umlauts are German letters as people write them who do not have them.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

// spelled is what may stand for an umlaut. After a vowel or a q, as in "queen", u and e
// are two letters; Snowball's German2 stemmer reads them so, too.
var spelled = regexp.MustCompile(`ae|oe|(^|[^aeiouq])ue`)

// spellings are the terms of a query that Germans may have written in another way,
// and how: Zürich as Zuerich, which is zurich and zuerich here, and the other way
// round. Without the umlauts, as "Zurich", the index has them anyway.
func spellings(text string) map[string]string {
	text = norm.NFC.String(strings.ToLower(text))
	other := map[string]string{}
	long := words(fold(umlauts.Replace(text)))
	for i, w := range words(fold(text)) {
		if w.way != latin {
			continue
		}
		with := w
		if i < len(long) {
			with = long[i]
		}
		if with.text == w.text {
			with.text = spelled.ReplaceAllStringFunc(w.text, func(s string) string { return strings.TrimSuffix(s, "e") })
		}
		if with.text != w.text {
			stem, _, _ := w.forms()
			other[stem], _, _ = with.forms()
		}
	}
	return other
}

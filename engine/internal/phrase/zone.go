package phrase

import (
	"strings"
	"time"
	"unicode"

	"klawbot/engine/internal/times"
)

// abbreviations are zones that have one meaning; unclearZones have several.
var abbreviations = map[string]string{
	"utc": "UTC", "gmt": "UTC", "cet": "Etc/GMT-1", "cest": "Etc/GMT-2", "eet": "Etc/GMT-2", "eest": "Etc/GMT-3", "msk": "Europe/Moscow", "мск": "Europe/Moscow",
	"bst": "Etc/GMT-1", "est": "Etc/GMT+5", "edt": "Etc/GMT+4", "cdt": "Etc/GMT+5", "mst": "Etc/GMT+7", "mdt": "Etc/GMT+6", "pst": "Etc/GMT+8", "pdt": "Etc/GMT+7",
	"jst": "Asia/Tokyo", "kst": "Asia/Seoul", "hkt": "Asia/Hong_Kong", "sgt": "Asia/Singapore", "aest": "Etc/GMT-10", "aedt": "Etc/GMT-11",
	"nzst": "Etc/GMT-12", "nzdt": "Etc/GMT-13", "et": "America/New_York", "pt": "America/Los_Angeles",
}

const unclearZones = "cst ist ast sst wst mt ct"

// readZone reads a zone behind a time of the day: "UTC+3", "+03:00", "CET", "Berlin
// time", "Europe/Berlin", «по Москве», «мск».
func readZone(m *moment, w []word) int {
	if m.zone != nil || !m.exact() {
		return 0
	}
	if len(w) > 1 && (w[0].text == "по" || w[0].text == "in" && w[1].raw == strings.ToUpper(w[1].raw)) { // «по UTC»
		name := strings.TrimRight(w[1].text, "+-0123456789:")
		if _, ok := abbreviations[name]; ok {
			if taken := readZone(m, w[1:]); taken > 0 {
				return 1 + taken
			}
		}
	}
	one, raw := w[0].text, strings.Trim(w[0].raw, ",;:()")
	if rest, ok := strings.CutPrefix(one, "utc"); ok || strings.HasPrefix(one, "gmt") {
		if !ok {
			rest = strings.TrimPrefix(one, "gmt")
		}
		if rest == "" {
			if m.zone = times.OffsetZone(at(w, 1)); m.zone != nil {
				return 2
			}
			if _, ok := readInt(at(w, 2), 0, 14); ok && anyOf(at(w, 1), "+ -") {
				if m.zone = times.OffsetZone(at(w, 1) + at(w, 2)); m.zone == nil || at(w, 1) == "-" {
					m.err = &UnclearError{Why: DoubtZone, Words: phrase(w[:3], nil)} // "UTC - 5 eggs"
				}
				return 3
			}
			m.zone = time.UTC
			return 1
		}
		if m.zone = times.OffsetZone(rest); m.zone == nil {
			m.err = &UnclearError{Why: DoubtZone, Words: raw}
		}
		return 1
	}
	if zone := times.OffsetZone(one); zone != nil && len(one) > 1 {
		m.zone = zone
		return 1
	}
	// In lower case the letters may be a word; behind "9am" or "9:00" they hardly are.
	letters := raw == strings.ToUpper(raw) || m.minutes || one == "мск"
	if name, ok := abbreviations[one]; ok && letters && (len([]rune(one)) > 2 || raw == strings.ToUpper(raw) && m.minutes) {
		m.zone, _ = time.LoadLocation(name)
		return 1
	}
	if name := strings.TrimRight(one, "+-0123456789:"); name != one && abbreviations[name] != "" {
		m.err = &UnclearError{Why: DoubtZone, Words: raw} // "MSK+2"
		return 1
	}
	if anyOf(one, unclearZones+" et pt") && raw == strings.ToUpper(raw) {
		m.err = &UnclearError{Why: DoubtZone, Words: raw}
		return 1
	}
	if raw == "Z" || isRegion(m, w) {
		m.err = &UnclearError{Why: DoubtZone, Words: raw}
		return 1
	}
	return readZoneName(m, w, false)
}

// isRegion reports a zone of America without the word "time": "9am Pacific", but not
// "9am Central Park".
func isRegion(m *moment, w []word) bool {
	if !m.isClock() || !unicode.IsUpper([]rune(w[0].raw)[0]) || at(w, 1) == "time" {
		return false
	}
	if len(w) > 1 && unicode.IsUpper([]rune(w[1].raw)[0]) {
		return false
	}
	return anyOf(w[0].text, "pacific eastern") || anyOf(w[0].text, "central mountain") && m.minutes
}

// readZoneName reads the name of a zone or a city. In a text with more words, "in Berlin"
// or a bare "Berlin" may be a place and becomes m.place; whole says that the text is
// nothing but a time.
func readZoneName(m *moment, w []word, whole bool) int {
	if m.zone != nil || !m.exact() {
		return 0
	}
	n := 0
	if anyOf(w[0].text, "in по") {
		n++
	}
	russian := n > 0 && w[0].text == "по"
	if strings.Contains(at(w, n), "/") {
		if zone, err := time.LoadLocation(strings.Trim(w[n].raw, ",;:()")); err == nil {
			m.zone = zone
			return n + 1
		}
	}
	if anyOf(at(w, n), "my our local your местному моему") && anyOf(at(w, n+1), "time времени") {
		return n + 2
	}
	if bare, ok := strings.CutSuffix(w[0].text, "ого"); ok && at(w, 1) == "времени" { // «московского времени»
		if m.zone = times.CityZone(bare + "ому"); m.zone != nil {
			return 2
		}
	}
	if n > 0 && at(w, 1) == "времени" && len(w) > 2 && unicode.IsUpper([]rune(w[2].raw)[0]) { // «по времени Москвы»
		m.err = &UnclearError{Why: DoubtZone, Words: phrase(w[:3], nil)}
		return 3
	}
	for words := min(3, len(w)-n); words > 0; words-- {
		var name []string
		for _, one := range w[n : n+words] {
			name = append(name, strings.TrimSuffix(strings.TrimSuffix(one.text, "'s"), "'"))
		}
		zone := times.CityZone(strings.Join(name, "_"))
		if zone == nil {
			continue
		}
		raw := []rune(w[n].raw)
		switch {
		case russian && words == 1 && isStreet(w[n:]):
			return 0
		case anyOf(at(w, n+words), "time времени"):
			m.zone = zone
			return n + words + 1
		case russian, whole:
			m.zone = zone
			return n + words
		case unicode.IsUpper(raw[0]) && !anyOf(name[0], "la central mountain pacific eastern"), n > 0 && words > 1:
			m.place, m.placeWords = zone, phrase(w[:n+words], nil)
			if !m.beginning {
				return n + words
			}
		}
		return 0
	}
	if russian && n < len(w) && unicode.IsUpper([]rune(w[n].raw)[0]) && unicode.Is(unicode.Cyrillic, []rune(w[n].raw)[0]) && !isAdjective(w[n:]) {
		m.err = &UnclearError{Why: DoubtZone, Words: phrase(w[:n+1], nil)}
		return n + 1
	}
	if n < len(w) && at(w, n+1) == "time" && unicode.IsUpper([]rune(w[n].raw)[0]) {
		m.err = &UnclearError{Why: DoubtZone, Words: phrase(w[n:n+2], nil)}
		return n + 2
	}
	return 0
}

// isAdjective reports an adjective behind «по» without «времени»: «по Невскому».
func isAdjective(w []word) bool {
	return (strings.HasSuffix(w[0].text, "ому") || strings.HasSuffix(w[0].text, "ему")) && at(w, 1) != "времени"
}

// isStreet reports the name of a street or station: «по Московскому проспекту».
func isStreet(w []word) bool {
	return isAdjective(w) && anyOf(at(w, 1), "проспекту шоссе бульвару тракту переулку проезду мосту вокзалу району каналу")
}

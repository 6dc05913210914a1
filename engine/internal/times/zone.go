package times

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // machines without zone files, and Windows
	"unicode"
)

// ParseZone reads the name of a time zone; empty is the one that is given, and
// "Local" the system's.
func ParseZone(name string, usual *time.Location) (*time.Location, error) {
	if name == "" {
		return usual, nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		return zone, nil
	}
	if zone := cityZone(strings.ToLower(name)); zone != nil {
		return zone, nil
	}
	if zone := offsetZone(strings.ToUpper(strings.NewReplacer("UTC", "", "GMT", "", "utc", "", "gmt", "").Replace(name))); zone != nil {
		return zone, nil
	}
	return nil, fmt.Errorf("time zone %q is not known; write an IANA name such as Europe/Berlin", quote(name))
}

// abbreviations are zones that have one meaning; unclearZones have several.
var abbreviations = map[string]string{
	"utc": "UTC", "gmt": "UTC", "cet": "Etc/GMT-1", "cest": "Etc/GMT-2", "eet": "Etc/GMT-2", "eest": "Etc/GMT-3", "msk": "Europe/Moscow", "мск": "Europe/Moscow",
	"bst": "Etc/GMT-1", "est": "Etc/GMT+5", "edt": "Etc/GMT+4", "cdt": "Etc/GMT+5", "mst": "Etc/GMT+7", "mdt": "Etc/GMT+6", "pst": "Etc/GMT+8", "pdt": "Etc/GMT+7",
	"jst": "Asia/Tokyo", "kst": "Asia/Seoul", "hkt": "Asia/Hong_Kong", "sgt": "Asia/Singapore", "aest": "Etc/GMT-10", "aedt": "Etc/GMT-11",
	"nzst": "Etc/GMT-12", "nzdt": "Etc/GMT-13", "et": "America/New_York", "pt": "America/Los_Angeles",
}

const unclearZones = "cst ist ast sst wst mt ct"

// cities are names that no zone has, and adjectives that stand before "time". The others
// are the last part of a zone's name: Berlin of Europe/Berlin.
var cities = named(map[string]string{
	"America/New_York":    "new_york_city nyc washington boston miami atlanta philadelphia eastern нью-йорку нью-йоркскому нью-йорк",
	"America/Chicago":     "dallas houston austin central чикаго",
	"America/Denver":      "mountain",
	"America/Los_Angeles": "san_francisco sf seattle la las_vegas san_diego pacific california лос-анджелесу",
	"America/Sao_Paulo":   "rio rio_de_janeiro são_paulo", "America/Toronto": "ottawa", "America/Montreal": "montréal",
	"Asia/Shanghai": "beijing peking shenzhen china пекину китайскому", "Asia/Kolkata": "mumbai delhi new_delhi bangalore bengaluru chennai india",
	"Europe/Berlin": "munich hamburg frankfurt cologne germany german берлину берлинскому берлин", "Europe/Zurich": "geneva basel bern zürich",
	"Europe/Madrid": "barcelona", "Europe/Rome": "milan", "Europe/London": "uk england british лондону лондонскому лондон", "Europe/Paris": "французскому парижу парижскому париж",
	"Europe/Moscow": "saint_petersburg st_petersburg москве московскому москва петербургу", "Europe/Kiev": "kyiv киеву киевскому киев", "Europe/Minsk": "минску минскому минск",
	"Europe/Kaliningrad": "калининграду", "Europe/Samara": "самаре", "Asia/Yekaterinburg": "екатеринбургу екатеринбургскому", "Asia/Omsk": "омску", "Asia/Novosibirsk": "новосибирску новосибирскому",
	"Asia/Krasnoyarsk": "красноярску", "Asia/Irkutsk": "иркутску", "Asia/Yakutsk": "якутску", "Asia/Vladivostok": "владивостоку владивостокскому", "Asia/Almaty": "алматы астане astana",
	"Asia/Tashkent": "ташкенту", "Asia/Tbilisi": "тбилиси", "Asia/Yerevan": "еревану", "Asia/Baku": "баку", "Asia/Tokyo": "osaka kyoto токио токийскому", "Asia/Dubai": "abu_dhabi дубаю дубай",
	"Asia/Jerusalem": "tel_aviv israel", "Europe/Istanbul": "ankara стамбулу", "Asia/Bangkok": "phuket бангкоку", "Europe/Warsaw": "варшаве krakow", "Europe/Prague": "праге", "Europe/Vienna": "вене",
	"Europe/Riga": "риге", "Europe/Vilnius": "вильнюсу", "Europe/Tallinn": "таллину", "UTC": "greenwich гринвичу",
})

// regions are where zones of cities are looked for.
var regions = strings.Fields("Europe America Asia Africa Australia Pacific Atlantic Indian America/Argentina America/Indiana")

// cityZone is the zone of a city, nil when none is known.
func cityZone(name string) *time.Location {
	name = strings.ReplaceAll(name, " ", "_")
	if strings.ContainsAny(name, "/.\\") || name == "" || len(name) > 40 {
		return nil
	}
	if zone, ok := cities[name]; ok {
		loaded, _ := time.LoadLocation(zone)
		return loaded
	}
	parts := strings.Split(name, "_")
	for i, p := range parts {
		if !anyOf(p, "es of de la") && p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	for _, region := range regions {
		if zone, err := time.LoadLocation(region + "/" + strings.Join(parts, "_")); err == nil {
			return zone
		}
	}
	return nil
}

var offsetText = regexp.MustCompile(`^([+-])(\d{1,2})(?::?(\d{2}))?$`)

// offsetZone is the zone of an offset such as +03:00 or Z, nil for another text. Whole
// hours have a name that can be stored.
func offsetZone(text string) *time.Location {
	if text == "Z" {
		return time.UTC
	}
	o := offsetText.FindStringSubmatch(text)
	if o == nil || number(o[2]) > 14 || number(o[3]) > 59 {
		return nil
	}
	hours, minutes, sign := number(o[2]), number(o[3]), 1
	if o[1] == "-" {
		sign = -1
	}
	if minutes == 0 {
		name := fmt.Sprintf("Etc/GMT%+d", -sign*hours)
		if hours == 0 {
			name = "UTC"
		}
		if zone, err := time.LoadLocation(name); err == nil {
			return zone
		}
	}
	return time.FixedZone("UTC"+text, sign*(hours*3600+minutes*60))
}

// readZone reads a zone behind a time of the day: "UTC+3", "+03:00", "CET", "Berlin
// time", "Europe/Berlin", «по Москве», «мск».
func (m *moment) readZone(w []word) int {
	if m.zone != nil || !m.exact() {
		return 0
	}
	one, raw := w[0].text, strings.Trim(w[0].raw, ",;:()")
	if rest, ok := strings.CutPrefix(one, "utc"); ok || strings.HasPrefix(one, "gmt") {
		if !ok {
			rest = strings.TrimPrefix(one, "gmt")
		}
		if rest == "" {
			if m.zone = offsetZone(at(w, 1)); m.zone != nil {
				return 2
			}
			m.zone = time.UTC
			return 1
		}
		if m.zone = offsetZone(rest); m.zone == nil {
			m.err = &UnclearError{Why: DoubtZone, Words: raw}
		}
		return 1
	}
	if zone := offsetZone(one); zone != nil && len(one) > 1 {
		m.zone = zone
		return 1
	}
	// In lower case the letters may be a word; behind "9am" or "9:00" they hardly are.
	letters := raw == strings.ToUpper(raw) || m.minutes || one == "мск"
	if name, ok := abbreviations[one]; ok && letters && (len([]rune(one)) > 2 || raw == strings.ToUpper(raw) && m.minutes) {
		m.zone, _ = time.LoadLocation(name)
		return 1
	}
	if anyOf(one, unclearZones) && raw == strings.ToUpper(raw) {
		m.err = &UnclearError{Why: DoubtZone, Words: raw}
		return 1
	}
	return m.readZoneName(w, false)
}

// readZoneName reads the name of a zone or a city. In a text with more words, "in Berlin"
// or a bare "Berlin" may be a place and becomes m.place; whole says that the text is
// nothing but a time.
func (m *moment) readZoneName(w []word, whole bool) int {
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
	for words := min(3, len(w)-n); words > 0; words-- {
		var name []string
		for _, one := range w[n : n+words] {
			name = append(name, strings.TrimSuffix(strings.TrimSuffix(one.text, "'s"), "'"))
		}
		zone := cityZone(strings.Join(name, "_"))
		if zone == nil {
			continue
		}
		raw := []rune(w[n].raw)
		switch {
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
	if n < len(w) && at(w, n+1) == "time" && unicode.IsUpper([]rune(w[n].raw)[0]) {
		m.err = &UnclearError{Why: DoubtZone, Words: phrase(w[n:n+2], nil)}
		return n + 2
	}
	return 0
}

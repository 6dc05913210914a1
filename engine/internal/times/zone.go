package times

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // machines without zone files, and Windows
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
	if zone := CityZone(strings.ToLower(name)); zone != nil {
		return zone, nil
	}
	if zone := OffsetZone(strings.ToUpper(strings.NewReplacer("UTC", "", "GMT", "", "utc", "", "gmt", "").Replace(name))); zone != nil {
		return zone, nil
	}
	return nil, fmt.Errorf("time zone %q is not known; write an IANA name such as Europe/Berlin", quote(name))
}

// cities are names that no zone has, and adjectives that stand before "time". The others
// are the last part of a zone's name: Berlin of Europe/Berlin.
var cities = byWord(map[string]string{
	"America/New_York":    "new_york_city nyc washington boston miami atlanta philadelphia eastern нью-йорку нью-йоркскому нью-йорк",
	"America/Chicago":     "dallas houston austin central чикаго",
	"America/Denver":      "mountain",
	"America/Los_Angeles": "san_francisco sf seattle la las_vegas san_diego pacific california лос-анджелесу",
	"America/Sao_Paulo":   "rio rio_de_janeiro são_paulo", "America/Toronto": "ottawa", "America/Montreal": "montréal",
	"Asia/Shanghai": "beijing peking shenzhen china пекину китайскому", "Asia/Kolkata": "mumbai delhi new_delhi bangalore bengaluru chennai india",
	"Europe/Berlin": "central_european munich hamburg frankfurt cologne germany german берлину берлинскому берлин", "Europe/Zurich": "geneva basel bern zürich",
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

// CityZone is the zone of a city, nil when none is known.
func CityZone(name string) *time.Location {
	name = strings.ReplaceAll(name, " ", "_")
	if strings.ContainsAny(name, "/.\\") || name == "" || len(name) > 40 {
		return nil
	}
	if zone, ok := cities[name]; ok {
		loaded, _ := time.LoadLocation(zone)
		return loaded
	}
	parts, small := strings.Split(name, "_"), []string{"es", "of", "de", "la"}
	for i, p := range parts {
		if p != "" && !slices.Contains(small, p) {
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

// OffsetZone is the zone of an offset such as +03:00 or Z, nil for another text. Whole
// hours have a name that can be stored.
func OffsetZone(text string) *time.Location {
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

// byWord turns lists of words into a table by word.
func byWord(lists map[string]string) map[string]string {
	table := map[string]string{}
	for v, words := range lists {
		for w := range strings.FieldsSeq(words) {
			table[w] = v
		}
	}
	return table
}

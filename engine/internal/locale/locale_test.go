package locale

import (
	"regexp"
	"slices"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration][2]string{
		0:                                 {"0 s", "0 с"},
		-time.Second:                      {"0 s", "0 с"},
		44*time.Second + 400e6:            {"44 s", "44 с"},
		59*time.Second + 600e6:            {"1 min", "1 мин"},
		90 * time.Second:                  {"1 min 30 s", "1 мин 30 с"},
		10 * time.Minute:                  {"10 min", "10 мин"},
		time.Hour + 59*time.Second:        {"1 h", "1 ч"},
		2*time.Hour + 5*time.Minute + 1:   {"2 h 5 min", "2 ч 5 мин"},
		3*day + 4*time.Hour + time.Hour/2: {"3 d 4 h", "3 дн 4 ч"},
		7 * day:                           {"7 d", "7 дн"},
	} {
		for i, language := range []string{"en", "ru"} {
			if got := Span(language, d); got != want[i] {
				t.Errorf("%s in %s: %q, want %q", d, language, got, want[i])
			}
		}
	}
}

var verb = regexp.MustCompile(`%[+#-]*[\d.]*[a-zA-Z]`)

func TestCataloguesAreComplete(t *testing.T) {
	for p := range phraseCount {
		if english[p] == "" || russian[p] == "" {
			t.Errorf("phrase %d: %q in English, %q in Russian", p, english[p], russian[p])
		}
		if en, ru := verb.FindAllString(english[p], -1), verb.FindAllString(russian[p], -1); !slices.Equal(en, ru) {
			t.Errorf("%q takes %v, %q takes %v", english[p], en, russian[p], ru)
		}
	}
}

package terms_test

import (
	"testing"

	"klawbot/engine/internal/terms"
)

func TestEnglish(t *testing.T) {
	for text, want := range map[string]struct{ is, shows bool }{
		"The dentist is on Tuesday at nine":                      {true, true},
		"Dentist Tuesday, bring insurance card":                  {true, false},
		"Der Zahnarzt ist am Dienstag um neun":                   {false, true},
		"Was soll ich im Mai mitbringen? Die Kinder haben frei.": {false, true},
		"Le dentiste est mardi à neuf heures":                    {false, true},
		"La cita con el dentista es el martes":                   {false, true},
		"Dentysta jest we wtorek o dziewiątej":                   {false, true},
		"Klucz leży pod skrzynką":                                {false, true},
		"Nyckeln ligger i lådan, och jag har inte koden":         {false, true},
		"Nøglen er under måtten":                                 {false, true},
		"Diş hekimi Salı günü saat dokuzda":                      {false, true},
		"Kunci itu ada di bawah karpet, saya tidak lupa":         {false, true},
		"Chìa khóa ở dưới tấm thảm":                              {false, true},
		"A fogorvos kedden van, és nem szerdán":                  {false, true},
		"Zubař je v úterý v devět":                               {false, true},
		"Beyoncé and her fiancé are at the café":                 {true, true},
		"the crème brûlée is good":                               {true, true},
		"I've been to São Paulo":                                 {true, true},
		"Hoe laat is het?":                                       {false, true},
		"Het is nu kwart over drie.":                             {false, true},
		"Was kostet das?":                                        {false, true},
		"In Berlin war es so kalt":                               {false, true},
		"Me voy a casa":                                          {true, false},
		"Зубной врач во вторник":                                 {false, true},
		"我的钥匙在门口":                                                {false, true},
		"رأيت الطبيب":                                            {false, true},
		"":                                                       {true, false},
		"🔴 12:30":                                                {true, false},
	} {
		if is, shows := terms.English(text); shows != want.shows || shows && is != want.is {
			t.Errorf("%q: %v, %v", text, is, shows)
		}
	}
}

// TestSays: a question of one word is about nothing, however many terms it has.
func TestSays(t *testing.T) {
	for text, want := range map[string]bool{
		"🔴": false, "C++": false, "2026-11-29": false, "Wi-Fi": true, "what is that?": true, "boiler 🔴": true, "boiler 😊": false, "": false, "رأيت الطبيب": true,
	} {
		if got := terms.Ask(text).Says(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestMostlyForeign: a few texts tell nothing, and what was found before stays until the
// texts clearly say otherwise.
func TestMostlyForeign(t *testing.T) {
	for _, c := range []struct {
		english, foreign int
		before, want     bool
	}{
		{0, 9, false, false}, {0, 10, false, true}, {10, 10, false, false}, {10, 11, false, true}, {100, 10, false, false},
		{0, 0, true, true}, {9, 0, true, true}, {10, 0, true, false}, {29, 10, true, true}, {30, 10, true, false},
	} {
		var texts []string
		for range c.english {
			texts = append(texts, "The dentist is on Tuesday at nine", "Milk, 2 pounds of butter")
		}
		for range c.foreign {
			texts = append(texts, "Der Zahnarzt ist am Dienstag um neun")
		}
		if got := terms.MostlyForeign(texts, c.before); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

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
		if got := terms.Says(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

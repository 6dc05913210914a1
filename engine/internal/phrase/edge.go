package phrase

import (
	"strings"

	"klawbot/engine/internal/phrase/lexicon"
)

// Words at the edge of a text that say when, though no time is read from them: "at the end
// of the month", «в последнюю пятницу месяца». They begin with leads and end with a noun.
const (
	// leads do not say by themselves that a time follows; ties do.
	leads = "a an the of and this that next working business рабочий рабочего рабочих этот эту это этой этом этим следующий следующей следующем следующую new новый"
	ties  = `in on at over around within during since from starting beginning as by end middle mid start late early few several some not only just again later
		в во с со под перед около через начиная к конце конца начале начала середине несколько каждый каждую только снова не`
	// behindText are the ties that make words of a time of the end of a text; "before
	// Friday" and "for the week" belong to what is to be done.
	behindText = "in on at over around within during starting later end middle mid в во через под около конце начале середине"
	// tails end words that belong to the time behind them.
	tails = "except excluding starting beginning кроме начиная через the a of for than between then потом затем далее not but но не а minus plus на за к ко накануне в во"
	// nouns are days and lengths that need a tie; those of alone do not.
	nouns = `year's weekend weekends quarter quarters season summer winter spring autumn christmas xmas easter thanksgiving halloween dawn dusk sunrise sunset bedtime lunchtime teatime dinnertime
		дня дней днях неделе недели неделю месяце квартал квартала квартале выходных рождество рождества пасху пасхи утру рассвета рассвете закате заката сном завтраком обедом
		январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре`
	alone = "yesterday soon sometime someday overnight later вчера скоро попозже когда-нибудь утречком вечерком летом зимой весной осенью m-f mid-week"
	// rarely repeat in a way that is not read.
	rarely = "quarterly bi-weekly bi-monthly biannually twice thrice ежеквартально дважды трижды"
)

// deadlines may begin words of a time behind another, but what stands before one is text.
const deadlines = " before after перед после до на"

// isNoun reports a word that a time is named by.
func isNoun(w string) bool {
	_, weekday := lexicon.Weekdays[w]
	_, plural := lexicon.PluralWeekdays[w]
	switch {
	case weekday, plural, genitiveTime(w), isPart(w), lexicon.Months[w] != 0 && w != "mar", lexicon.Units[w] >= day && len(w) > 1:
		return true
	}
	return anyOf(w, nouns) || anyOf(w, lexicon.Weekends) || anyOf(w, lexicon.Workdays)
}

// joined reports several days in one word: "mon/wed/fri", "5-Dec", «завтра-послезавтра».
func joined(w string) bool {
	parts := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("/-+,", r) })
	named := false
	for _, p := range parts {
		_, weekday := lexicon.Weekdays[p]
		_, day := lexicon.Days[p]
		is := weekday || day || lexicon.Months[p] != 0 || p == "mid"
		if !is && number(p) == 0 {
			return false
		}
		named = named || is
	}
	return named && len(parts) > 1
}

// leadsOn reports a word that may stand before the noun of a time.
func leadsOn(w word) bool {
	_, number := readNumber(w.text)
	return number || isOrdinal(w) || anyOf(w.text, leads+" "+ties+deadlines+" "+lexicon.Every) || w.text != "" && strings.Trim(w.text, "0123456789-") == ""
}

func isOrdinal(w word) bool {
	return ordinalDigits.MatchString(w.text) || lexicon.Ordinals[w.text] != 0
}

// belongs reports whether the last word before a time belongs to it, so that more is said
// than was read: the "except" of "except Monday", the "2" of "2 Fridays". next begins the
// time.
func belongs(m moment, last word, next string) bool {
	_, plural := lexicon.PluralWeekdays[next]
	_, number := readInt(last.text, 1, 99)
	switch {
	case isOrdinal(last), plural && number:
		return true
	case weekdayAt(last.text) >= 0 && m.weekdays != 0 && m.repeat == nil:
		return true
	}
	return anyOf(last.text, tails) || anyOf(last.text, lexicon.Before+" "+lexicon.After+" "+lexicon.Join+" "+lexicon.Every+" "+lexicon.Approximately)
}

// open reports a time without a day, so that loose words beside it may name one.
func (m moment) open() bool { return !m.isDay && !m.isDate && !m.isSpan }

// saidBehind is how many words at the beginning of what follows a time say another one.
func saidBehind(m moment, rest []word) (n int) {
	if m.open() {
		n = looseTime(m, rest)
	}
	if n == 0 && !m.exact() {
		n = sameTime(rest)
	}
	return n
}

// saidBefore is how many words at the end of what stands before a time say another one.
func saidBefore(m moment, rest []word) (n int) {
	if m.open() {
		n = looseEnd(rest)
	}
	if n > 0 || m.exact() {
		return n
	}
	for i := max(0, len(rest)-5); i < len(rest); i++ {
		if sameTime(rest[i:]) == len(rest)-i {
			return len(rest) - i
		}
	}
	return clockBefore(rest)
}

// looseTime is how many words at the beginning of what follows a time say another one, in
// words that are not read.
func looseTime(m moment, rest []word) int {
	if anyOf(rest[0].text, alone) || joined(rest[0].text) || m.repeat == nil && (anyOf(rest[0].text, rarely) || at(rest, 1) == "раза") {
		return 1
	}
	if anyOf(rest[0].text, "again only just starting beginning not начиная снова только не") && timeAt(rest[1:]) > 0 {
		return 1 + timeAt(rest[1:])
	}
	tied, ranked, nouns, found := false, false, 0, 0
	for n, w := range rest[:min(len(rest), longestPhrase/2)] {
		switch {
		case isNoun(w.text) || joined(w.text):
			if nouns++; n > 0 && (tied || weekdayAt(w.text) >= 0 || ranked && nouns > 1) {
				found = n + 1
			}
		case !leadsOn(w):
			return found
		}
		tied, ranked = tied || anyOf(w.text, ties+deadlines+" "+lexicon.Every), ranked || isOrdinal(w)
	}
	return found
}

// looseEnd is how many words at the end of what stands before a time say another one.
func looseEnd(rest []word) int {
	last := rest[len(rest)-1].text
	if len(rest) > 1 && (anyOf(last, alone+" "+rarely) || joined(last)) {
		return 1
	}
	if n := len(rest); n > 3 && last == "next" && rest[n-2].text == "after" && isNoun(rest[n-3].text) {
		return 3
	}
	nouns := 0
	for n := 1; n < min(len(rest), longestPhrase/2); n++ {
		w := rest[len(rest)-n]
		switch {
		case nouns > 0 && anyOf(w.text, behindText+" "+lexicon.Every), nouns > 1 && isOrdinal(w):
			return n
		case isNoun(w.text):
			nouns++
		case !leadsOn(w) && w.text != "eve":
			return 0
		}
	}
	return 0
}

// sameTime is how many words say "at the same time", which is none that is read.
func sameTime(rest []word) int {
	n := 0
	for n < min(len(rest), 4) && anyOf(rest[n].text, "at the same this that в это то же такое") {
		n++
	}
	if n > 0 && anyOf(at(rest, n), "time время") && !anyOf(rest[n-1].text, "at the в") {
		return n + 1
	}
	return 0
}

// clockBefore is how many words at the end of what stands before a day are a time of the
// day that other words part from it: the "at 9:30 later" of "call at 9:30 later today".
func clockBefore(rest []word) int {
	for n := 1; n < min(len(rest), 5) && (leadsOn(rest[len(rest)-n]) || anyOf(rest[len(rest)-n].text, alone+" except часов") || lexicon.Repeats[rest[len(rest)-n].text] != 0); n++ {
		if m, taken := readEnd(rest[:len(rest)-n]); taken > 0 && m.minutes {
			return n + taken
		}
	}
	return 0
}

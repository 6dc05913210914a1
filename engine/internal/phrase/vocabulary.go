package phrase

import (
	"strconv"
	"strings"
	"time"

	"klawbot/internal/clip"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
	// month and year mark calendar units in unitWords; their length is not used.
	month = 30 * day
	year  = 365 * day
)

// The usual times of the parts of a day.
const (
	morning   = 9 * time.Hour
	afternoon = 14 * time.Hour
	evening   = 19 * time.Hour
	night     = 22 * time.Hour
)

// The words of times, in English and Russian.
var (
	unitWords = named(map[time.Duration]string{
		time.Second:      "s sec secs second seconds с сек секунду секунды секунд",
		time.Minute:      "m min mins minute minutes м мин минуту минуты минут минутку минута",
		15 * time.Minute: "четверть",
		time.Hour:        "h hr hrs hour hours ч час часа часов часик часок",
		day:              "d day days д день дня дней сутки суток",
		week:             "w wk week weeks неделю недели недель недельку неделя",
		2 * week:         "fortnight fortnights",
		month:            "month months месяц месяца месяцев",
		year:             "y yr year years год года лет",
	})
	numberWords = named(map[float64]string{
		0.5: "half пол", 1: "a an one один одну одна", 1.5: "полтора полторы", 2: "two couple два две двух пару пара", 3: "three три трех",
		4: "four четыре четырех", 5: "five пять", 6: "six шесть", 7: "seven семь", 8: "eight восемь", 9: "nine девять", 10: "ten десять",
		11: "eleven одиннадцать", 12: "twelve двенадцать", 13: "thirteen тринадцать", 14: "fourteen четырнадцать", 15: "fifteen пятнадцать",
		16: "sixteen шестнадцать", 17: "seventeen семнадцать", 18: "eighteen восемнадцать", 19: "nineteen девятнадцать",
		20: "twenty двадцать", 25: "twenty-five", 30: "thirty тридцать", 40: "forty сорок", 45: "forty-five", 50: "fifty пятьдесят", 60: "sixty шестьдесят", 90: "ninety девяносто",
	})
	weekdayWords = named(map[time.Weekday]string{
		time.Monday: "monday mon понедельник пн", time.Tuesday: "tuesday tue tues вторник вт", time.Wednesday: "wednesday wed weds среду среда ср",
		time.Thursday: "thursday thu thur thurs четверг чт", time.Friday: "friday fri пятницу пятница пт", time.Saturday: "saturday sat субботу суббота сб",
		time.Sunday: "sunday sun воскресенье вс",
	})
	// genitiveWeekdays follow a preposition: «до пятницы», «после среды».
	genitiveWeekdays = named(map[time.Weekday]string{
		time.Monday: "понедельника", time.Tuesday: "вторника", time.Wednesday: "среды", time.Thursday: "четверга", time.Friday: "пятницы",
		time.Saturday: "субботы", time.Sunday: "воскресенья",
	})
	// pluralWeekdays repeat: "Mondays", «по понедельникам».
	pluralWeekdays = named(map[time.Weekday]string{
		time.Monday: "mondays понедельникам", time.Tuesday: "tuesdays вторникам", time.Wednesday: "wednesdays средам", time.Thursday: "thursdays четвергам",
		time.Friday: "fridays пятницам", time.Saturday: "saturdays субботам", time.Sunday: "sundays воскресеньям",
	})
	monthWords = named(map[int]string{
		1: "january jan января янв", 2: "february feb февраля фев", 3: "march mar марта мар", 4: "april apr апреля апр", 5: "may мая", 6: "june jun июня июн",
		7: "july jul июля июл", 8: "august aug августа авг", 9: "september sep sept сентября сент сен", 10: "october oct октября окт",
		11: "november nov ноября ноя", 12: "december dec декабря дек",
	})
	dayWords = named(map[int]string{
		0: "today сегодня", 1: "tomorrow tmrw tmr завтра завтрашнего", 2: "overmorrow послезавтра",
	})
	partWords = named(map[time.Duration]string{
		morning: "morning утром утра", afternoon: "afternoon днем дня", evening: "evening вечером вечера веч", night: "night ночью ночи",
	})
	// repeatedParts follow "every": "every evening", «каждое утро», «по утрам».
	repeatedParts = named(map[time.Duration]string{
		morning: "morning утро утрам", afternoon: "afternoon", evening: "evening вечер вечерам", night: "night ночь ночам",
	})
	clockWords = named(map[time.Duration]string{12 * time.Hour: "noon midday полдень полдня полудня", day: "midnight полночь полуночи"})
	// ordinalWords are days of a month and the n-th weekday; lastWord is the last.
	ordinalWords = named(map[int]string{
		lastWord: "last последний последнюю последнее последняя последнего", 1: "first первого первый первую первое первая", 2: "second второго второй вторую второе вторая",
		3: "third третьего третий третью третье третья", 4: "fourth четвертого четвертый четвертую четвертое", 5: "fifth пятого пятый пятую пятое", 6: "sixth шестого", 7: "seventh седьмого",
		8: "eighth восьмого", 9: "ninth девятого", 10: "tenth десятого", 11: "eleventh одиннадцатого", 12: "twelfth двенадцатого",
		13: "thirteenth тринадцатого", 14: "fourteenth четырнадцатого", 15: "fifteenth пятнадцатого", 16: "sixteenth шестнадцатого",
		17: "seventeenth семнадцатого", 18: "eighteenth восемнадцатого", 19: "nineteenth девятнадцатого", 20: "twentieth двадцатого",
		30: "thirtieth тридцатого", 31: "thirty-first",
	})
	// repeatWords repeat by themselves: "daily at 9".
	repeatWords = named(map[time.Duration]string{
		time.Hour: "hourly ежечасно", day: "daily ежедневно nightly", week: "weekly еженедельно", 2 * week: "fortnightly", month: "monthly ежемесячно",
		year: "yearly annually ежегодно",
	})
)

// foreign words of days and times are understood in no language; beside a time they are a
// reason to ask. Names and words that are common in English or Russian are left out.
const foreign = `
	heute morgen übermorgen montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag uhr jeden jede jeder täglich woche wöchentlich monat früh abends morgens mittags nachts tage tagen wochen monate monaten jahren stunden wochenende werktags montags dienstags mittwochs donnerstags freitags samstags sonntags
	hoy mañana lunes martes miércoles miercoles jueves viernes sábado cada diario diariamente semana tarde noche mediodía medianoche día días dia dias semanas meses años horas
	demain aujourd'hui après-demain lundi mardi mercredi jeudi vendredi samedi dimanche chaque semaine matin soir midi minuit jours semaines mois heures week-end
	domani oggi dopodomani lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi venerdì venerdi sabato domenica ogni settimana mattina sera giorno giorni settimane mesi mezzogiorno mezzanotte
	amanhã amanha hoje segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo semana dias semanas meses noite
	vandaag dagen weken maanden overmorgen maandag dinsdag woensdag donderdag vrijdag zaterdag zondag elke iedere
	jutro dzisiaj dziś pojutrze poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę codziennie dni tygodni tygodnie każdy
	yarın bugün pazartesi salı çarşamba perşembe cuma gün hafta cumartesi
	понеділок вівторок середу середа четвер п'ятницю п'ятниця суботу неділю неділя щодня щотижня сьогодні післязавтра тижня тиждень ранку вечора ранок вечір кожен кожну`

// foreignMonths are months in other languages, behind a number or "de".
const foreignMonths = `
	januar februar märz april mai juni juli august september oktober november dezember
	janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre
	enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
	gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro dezembro
	stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
	січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня`

// foreignSigns are such words in scripts that have no blanks between words.
var foreignSigns = []string{"明天", "今天", "后天", "後天", "每天", "周", "星期", "点", "點", "上午", "下午", "晚上", "明日", "今日", "毎日", "毎週", "曜", "時", "午後", "午前", "내일", "오늘", "모레", "매일", "매주", "요일", "오전", "오후", "غدا", "اليوم", "كل", "يوم", "מחר", "היום", "יום", "כל"}

// lastWord stands for "last" in ordinalWords.
const lastWord = -1

const (
	// singleUnits are units that need no number: «через час».
	singleUnits   = "minute hour day week month year fortnight секунду минуту минутку час часик часок день сутки неделю недельку месяц год"
	hourUnits     = "o'clock oclock hrs часа часов ч" // behind an hour
	mealWords     = "lunch lunchtime dinner breakfast sunset sunrise dawn dusk обед ужин завтрак обеде рассвете закате"
	everyWords    = "every each каждый каждую каждое каждые каждая каждого каждой"
	workdayWords  = "weekday weekdays workday workdays будний будни будням рабочий рабочим будним"
	weekendWords  = "weekend weekends выходной выходные выходным"
	beforeWords   = "before until till by prior ahead до перед"
	afterWords    = "after from since past после с со от"
	joinWords     = "and or & и или"
	startWords    = "starting beginning from since начиная с со"
	approximately = "around about approximately roughly early late almost nearly около примерно рано поздно почти"
)

// named turns lists of words into a table by word.
func named[V comparable](lists map[V]string) map[string]V {
	table := map[string]V{}
	for v, words := range lists {
		for _, w := range strings.Fields(words) {
			table[w] = v
		}
	}
	return table
}

// anyOf reports whether a word is one of a list.
func anyOf(w, list string) bool {
	for l := range strings.FieldsSeq(list) {
		if l == w {
			return true
		}
	}
	return false
}

// texts are some words with blanks between them.
func texts(w []word) string {
	all := make([]string, len(w))
	for i, one := range w {
		all[i] = one.text
	}
	return strings.Join(all, " ")
}

// readNumber reads a number in digits or one of the words for small ones.
func readNumber(w string) (float64, bool) {
	if n, ok := numberWords[w]; ok {
		return n, true
	}
	if w == "" || strings.Trim(w, "0123456789.,") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.Replace(w, ",", ".", 1), 64)
	return n, err == nil && n > 0 && n < 1e6
}

// readInt reads a whole number from low to high in digits or words.
func readInt(w string, low, high int) (int, bool) {
	n, ok := readNumber(w)
	if w == "0" || w == "00" {
		n, ok = 0, true
	}
	return int(n), ok && !anyOf(w, "a an couple пару пара") && n == float64(int(n)) && int(n) >= low && int(n) <= high
}

// readOrdinal reads "3rd", "third", "24-го", «двадцать третьего» and returns how many
// words that took.
func readOrdinal(w []word) (n, taken int) {
	if d := ordinalDigits.FindStringSubmatch(at(w, 0)); d != nil {
		return number(d[1]), 1
	}
	if n := ordinalWords[at(w, 0)]; n != 0 {
		return n, 1
	}
	tens := map[string]int{"двадцать": 20, "тридцать": 30, "twenty": 20, "thirty": 30}[at(w, 0)]
	if n := ordinalWords[at(w, 1)]; tens > 0 && n > 0 && n < 10 {
		return tens + n, 2
	}
	if tens, ones, ok := strings.Cut(at(w, 0), "-"); ok && anyOf(tens, "twenty thirty") {
		if n := ordinalWords[ones]; n > 0 && n < 10 {
			return int(numberWords[tens]) + n, 1
		}
	}
	return 0, 0
}

// weekdays is a set of weekdays, from Sunday 0.
type weekdays uint8

// list are the weekdays of the set, in order.
func (d weekdays) list() []int {
	var all []int
	for n := range 7 {
		if d&(1<<n) != 0 {
			all = append(all, n)
		}
	}
	return all
}

// from is the first weekday of the set that is not below n, -1 for none.
func (d weekdays) from(n int) int {
	for _, one := range d.list() {
		if one >= n {
			return one
		}
	}
	return -1
}

// number reads digits that a pattern has found, 0 for none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func numbers(all []int) []string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return texts
}

// quote shortens foreign text for an error.
func quote(text string) string { return clip.Runes(text, 40) }

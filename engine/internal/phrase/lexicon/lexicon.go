// Package lexicon holds the words of times in English and Russian, and those of other
// languages that are a reason to ask.
package lexicon

import (
	"strings"
	"time"
)

// Lengths beyond the hour.
const (
	Day  = 24 * time.Hour
	Week = 7 * Day
	// Month and Year mark calendar units in Units; their length is not used.
	Month = 30 * Day
	Year  = 365 * Day
)

// The usual times of the parts of a day.
const (
	Morning   = 9 * time.Hour
	Afternoon = 14 * time.Hour
	Evening   = 19 * time.Hour
	Night     = 22 * time.Hour
)

// The words of times, in English and Russian.
var (
	// Units are lengths: "min", «час».
	Units = named(map[time.Duration]string{
		time.Second:      "s sec secs second seconds с сек секунду секунды секунд",
		time.Minute:      "m min mins minute minutes м мин минуту минуты минут минутку минута",
		15 * time.Minute: "четверть",
		time.Hour:        "h hr hrs hour hours ч час часа часов часик часок",
		Day:              "d day days д день дня дней сутки суток",
		Week:             "w wk week weeks неделю недели недель недельку неделя",
		2 * Week:         "fortnight fortnights",
		Month:            "month months месяц месяца месяцев",
		Year:             "y yr year years год года лет",
	})
	// Numbers are small numbers: "two", «полтора».
	Numbers = named(map[float64]string{
		0.5: "half пол", 1: "a an one один одну одна", 1.5: "полтора полторы", 2: "two couple два две двух пару пара", 3: "three три трех",
		4: "four четыре четырех", 5: "five пять", 6: "six шесть", 7: "seven семь", 8: "eight восемь", 9: "nine девять", 10: "ten десять",
		11: "eleven одиннадцать", 12: "twelve двенадцать", 13: "thirteen тринадцать", 14: "fourteen четырнадцать", 15: "fifteen пятнадцать",
		16: "sixteen шестнадцать", 17: "seventeen семнадцать", 18: "eighteen восемнадцать", 19: "nineteen девятнадцать",
		20: "twenty двадцать", 25: "twenty-five", 30: "thirty тридцать", 40: "forty сорок", 45: "forty-five", 50: "fifty пятьдесят", 60: "sixty шестьдесят", 90: "ninety девяносто",
	})
	// Weekdays, Months, Days from today and Parts of a day are the names of these.
	Weekdays = named(map[time.Weekday]string{
		time.Monday: "monday mon понедельник пн", time.Tuesday: "tuesday tue tues вторник вт", time.Wednesday: "wednesday wed weds среду среда ср",
		time.Thursday: "thursday thu thur thurs четверг чт", time.Friday: "friday fri пятницу пятница пт", time.Saturday: "saturday sat субботу суббота сб",
		time.Sunday: "sunday sun воскресенье вс",
	})
	// GenitiveWeekdays follow a preposition: «до пятницы», «после среды».
	GenitiveWeekdays = named(map[time.Weekday]string{
		time.Monday: "понедельника", time.Tuesday: "вторника", time.Wednesday: "среды", time.Thursday: "четверга", time.Friday: "пятницы",
		time.Saturday: "субботы", time.Sunday: "воскресенья",
	})
	// PluralWeekdays repeat: "Mondays", «по понедельникам».
	PluralWeekdays = named(map[time.Weekday]string{
		time.Monday: "mondays понедельникам", time.Tuesday: "tuesdays вторникам", time.Wednesday: "wednesdays средам", time.Thursday: "thursdays четвергам",
		time.Friday: "fridays пятницам", time.Saturday: "saturdays субботам", time.Sunday: "sundays воскресеньям",
	})
	Months = named(map[int]string{
		1: "january jan января янв", 2: "february feb февраля фев", 3: "march mar марта мар", 4: "april apr апреля апр", 5: "may мая", 6: "june jun июня июн",
		7: "july jul июля июл", 8: "august aug августа авг", 9: "september sep sept сентября сент сен", 10: "october oct октября окт",
		11: "november nov ноября ноя", 12: "december dec декабря дек",
	})
	Days = named(map[int]string{
		0: "today сегодня", 1: "tomorrow tmrw tmr завтра завтрашнего", 2: "overmorrow послезавтра",
	})
	Parts = named(map[time.Duration]string{
		Morning: "morning утром утра", Afternoon: "afternoon днем дня", Evening: "evening вечером вечера веч", Night: "night ночью ночи",
	})
	// RepeatedParts follow "every": "every evening", «каждое утро», «по утрам».
	RepeatedParts = named(map[time.Duration]string{
		Morning: "morning утро утрам", Afternoon: "afternoon", Evening: "evening вечер вечерам", Night: "night ночь ночам",
	})
	// Clocks are times of the day with a name: "noon".
	Clocks = named(map[time.Duration]string{12 * time.Hour: "noon midday полдень полдня полудня", Day: "midnight полночь полуночи"})
	// Ordinals are days of a month and the n-th weekday; Last is the last.
	Ordinals = named(map[int]string{
		Last: "last последний последнюю последнее последняя последнего", 1: "first первого первый первую первое первая", 2: "second второго второй вторую второе вторая",
		3: "third третьего третий третью третье третья", 4: "fourth четвертого четвертый четвертую четвертое", 5: "fifth пятого пятый пятую пятое", 6: "sixth шестого", 7: "seventh седьмого",
		8: "eighth восьмого", 9: "ninth девятого", 10: "tenth десятого", 11: "eleventh одиннадцатого", 12: "twelfth двенадцатого",
		13: "thirteenth тринадцатого", 14: "fourteenth четырнадцатого", 15: "fifteenth пятнадцатого", 16: "sixteenth шестнадцатого",
		17: "seventeenth семнадцатого", 18: "eighteenth восемнадцатого", 19: "nineteenth девятнадцатого", 20: "twentieth двадцатого",
		30: "thirtieth тридцатого", 31: "thirty-first",
	})
	// Repeats repeat by themselves: "daily at 9".
	Repeats = named(map[time.Duration]string{
		time.Hour: "hourly ежечасно", Day: "daily ежедневно nightly", Week: "weekly еженедельно", 2 * Week: "fortnightly", Month: "monthly ежемесячно",
		Year: "yearly annually ежегодно",
	})
)

// Foreign words of days and times are understood in no language; beside a time they are a
// reason to ask. Names and words that are common in English or Russian are left out.
const Foreign = `
	heute morgen übermorgen montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag uhr jeden jede jeder täglich woche wöchentlich monat früh abends morgens mittags nachts tage tagen wochen monate monaten jahren stunden wochenende werktags montags dienstags mittwochs donnerstags freitags samstags sonntags
	hoy mañana lunes martes miércoles miercoles jueves viernes sábado cada diario diariamente semana tarde noche mediodía medianoche día días dia dias semanas meses años horas
	demain aujourd'hui après-demain lundi mardi mercredi jeudi vendredi samedi dimanche chaque semaine matin soir midi minuit jours semaines mois heures week-end
	domani oggi dopodomani lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi venerdì venerdi sabato domenica ogni settimana mattina sera giorno giorni settimane mesi mezzogiorno mezzanotte
	amanhã amanha hoje segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo semana dias semanas meses noite
	vandaag dagen weken maanden overmorgen maandag dinsdag woensdag donderdag vrijdag zaterdag zondag elke iedere
	jutro dzisiaj dziś pojutrze poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę codziennie dni tygodni tygodnie każdy
	yarın bugün pazartesi salı çarşamba perşembe cuma gün hafta cumartesi
	понеділок вівторок середу середа четвер п'ятницю п'ятниця суботу неділю неділя щодня щотижня сьогодні післязавтра тижня тиждень ранку вечора ранок вечір кожен кожну`

// ForeignMonths are months in other languages, behind a number or "de".
const ForeignMonths = `
	januar februar märz april mai juni juli august september oktober november dezember
	janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre
	enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
	gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro dezembro
	stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
	січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня`

// ForeignSigns are such words in scripts that have no blanks between words.
var ForeignSigns = []string{"明天", "今天", "后天", "後天", "每天", "周", "星期", "点", "點", "上午", "下午", "晚上", "明日", "今日", "毎日", "毎週", "曜", "時", "午後", "午前", "내일", "오늘", "모레", "매일", "매주", "요일", "오전", "오후", "غدا", "اليوم", "كل", "يوم", "מחר", "היום", "יום", "כל"}

// Last stands for "last" in Ordinals.
const Last = -1

// Words around a time, each list with blanks between its words.
const (
	// SingleUnits are units that need no number: «через час».
	SingleUnits   = "minute hour day week month year fortnight секунду минуту минутку час часик часок день сутки неделю недельку месяц год"
	HourUnits     = "o'clock oclock hrs часа часов ч" // behind an hour
	Meals         = "lunch lunchtime dinner breakfast sunset sunrise dawn dusk обед ужин завтрак обеде рассвете закате"
	Every         = "every each каждый каждую каждое каждые каждая каждого каждой"
	Workdays      = "weekday weekdays workday workdays будний будни будням рабочий рабочим будним"
	Weekends      = "weekend weekends выходной выходные выходным"
	Before        = "before until till by prior ahead до перед"
	After         = "after from since past после с со от"
	Join          = "and or & и или"
	Start         = "starting beginning from since начиная с со"
	Approximately = "around about approximately roughly early late almost nearly около примерно рано поздно почти"
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

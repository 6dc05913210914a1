package times

import (
	"fmt"
	"strings"
)

// words are the words for times in a language.
type words struct {
	at, in, and, or, everyDay, until string
	// months are those as in "in May", short the weekdays as in "Mon 2026-12-05".
	months, short []string
	monthDays
	dayTimes
	weekdays
	// every says "every 5 minutes".
	every                      func(n int, u unit) string
	second, minute, hour       unit
	dayUnit, week, month, year unit
}

// monthDays are the words for days of the month.
type monthDays struct {
	lastDay, lastWorkday              string
	beforeLast, nearest, onDays, both string
}

// dayTimes are the words for times of the day.
type dayTimes struct{ atSeconds, pastHour, between, inHours string }

// weekdays are the words for weekdays.
type weekdays struct {
	workdays, weekend string
	// days are the weekdays as in "every Monday", day as in "on the last Monday".
	days, day                   []string
	onEvery, onDay, on, ofMonth string
	// orders are "last", "first", … by the gender of a weekday.
	orders  [][]string
	genders []int
}

// unit is a unit of time, as words change with its number.
type unit struct {
	one, few, many string
	// every is the word for each one of them: "каждую", "каждый".
	every string
}

func (w words) join(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + w.and + " " + all[len(all)-1]
}

func (w words) named(m mask, names []string) []string {
	var all []string
	for _, n := range m.list() {
		all = append(all, names[n])
	}
	return all
}

// wordsOf are the words of "en" or "ru".
func wordsOf(language string) words {
	if language == "ru" {
		return russian
	}
	return english
}

// daysOf are weekdays in words, "Monday and Friday".
func (w words) daysOf(m mask) string {
	days := m.list()
	if len(days) > 1 && days[0] == 0 {
		days = append(days[1:], 0) // a week begins with Monday
	}
	var names []string
	for _, d := range days {
		names = append(names, w.days[d])
	}
	return w.join(names)
}

func (w words) onWeekdays(m mask) string {
	switch m {
	case span(1, 5):
		return w.workdays
	case 1<<0 | 1<<6:
		return w.weekend
	}
	return w.onEvery + " " + w.daysOf(m)
}

var englishDays = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")

var english = words{
	at: "at", in: "in", and: "and", or: "or", everyDay: "every day", until: "until",
	months: strings.Fields("- January February March April May June July August September October November December"),
	short:  strings.Fields("Sun Mon Tue Wed Thu Fri Sat"),
	monthDays: monthDays{
		lastDay: "on the last day of the month", lastWorkday: "on the last working day (Monday to Friday) of the month",
		beforeLast: "%d days before the last day of the month", nearest: "on the working day nearest to day %d of the month",
		onDays: "on day %s of the month", both: "%s if it is %s",
	},
	dayTimes: dayTimes{atSeconds: "at second %s", pastHour: "at minute %s", between: "from %s to %s", inHours: "in the hours %s"},
	weekdays: weekdays{
		workdays: "every day from Monday to Friday", weekend: "every Saturday and Sunday",
		days: englishDays, day: englishDays, onEvery: "every", onDay: "on", on: "on the", ofMonth: "of the month",
		orders: [][]string{strings.Fields("last first second third fourth fifth")}, genders: make([]int, 7),
	},
	second: unit{one: "second", many: "seconds"}, minute: unit{one: "minute", many: "minutes"}, hour: unit{one: "hour", many: "hours"},
	dayUnit: unit{one: "day", many: "days"}, week: unit{one: "week", many: "weeks"}, month: unit{one: "month", many: "months"}, year: unit{one: "year", many: "years"},
	every: func(n int, u unit) string {
		if n == 1 {
			return "every " + u.one
		}
		return fmt.Sprintf("every %d %s", n, u.many)
	},
}

var russian = words{
	at: "в", in: "в", and: "и", or: "или", everyDay: "каждый день", until: "до",
	months: strings.Fields("- январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре"),
	short:  strings.Fields("вс пн вт ср чт пт сб"),
	monthDays: monthDays{
		lastDay: "в последний день месяца", lastWorkday: "в последний рабочий день (с понедельника по пятницу) месяца",
		beforeLast: "за %d дн. до последнего дня месяца", nearest: "в рабочий день, ближайший к %d-му числу месяца",
		onDays: "%s числа месяца", both: "%s, если это %s",
	},
	dayTimes: dayTimes{atSeconds: "на секунде %s", pastHour: "на минуте %s", between: "с %s до %s", inHours: "в часы %s"},
	weekdays: weekdays{
		workdays: "каждый день с понедельника по пятницу", weekend: "по субботам и воскресеньям",
		days: strings.Fields("воскресеньям понедельникам вторникам средам четвергам пятницам субботам"),
		day:  strings.Fields("воскресенье понедельник вторник среду четверг пятницу субботу"), onEvery: "по", onDay: "по", on: "в", ofMonth: "месяца",
		orders: [][]string{
			strings.Fields("последний первый второй третий четвёртый пятый"), strings.Fields("последнюю первую вторую третью четвёртую пятую"),
			strings.Fields("последнее первое второе третье четвёртое пятое"),
		}, genders: []int{2, 0, 0, 1, 0, 1, 1},
	},
	second: unit{"секунду", "секунды", "секунд", "каждую"}, minute: unit{"минуту", "минуты", "минут", "каждую"}, hour: unit{"час", "часа", "часов", "каждый"},
	dayUnit: unit{"день", "дня", "дней", "каждый"}, week: unit{"неделю", "недели", "недель", "каждую"}, month: unit{"месяц", "месяца", "месяцев", "каждый"}, year: unit{"год", "года", "лет", "каждый"},
	every: func(n int, u unit) string {
		if n == 1 {
			return u.every + " " + u.one
		}
		return fmt.Sprintf("каждые %d %s", n, u.form(n))
	},
}

// form is the form of a Russian unit after a number.
func (u unit) form(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return u.one
	case n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return u.few
	}
	return u.many
}

// nth says "on the third Friday of the month"; 0 is the last.
func (w words) nth(n, weekday int) string {
	on := w.on
	if order := w.orders[w.genders[weekday]][n]; order == "второй" {
		on = "во"
	}
	return on + " " + w.orders[w.genders[weekday]][n] + " " + w.day[weekday] + " " + w.ofMonth
}

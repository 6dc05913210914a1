package phrase_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/phrase"
	"klawbot/engine/internal/times"
)

// TestWishes reads times with every word of them. It is Saturday, 28 November 2026,
// 10:15:30 in Berlin. A time is followed by what is left; "ask" is an UnclearError.
func TestWishes(t *testing.T) {
	const ask = "ask"
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct{ text, at, rest string }{
		// time-weekday-in-weeks
		{"Friday in two weeks dentist", "2026-12-11 09:00:00", "dentist"},
		{"in two weeks on Friday at 8 dentist", "2026-12-11 08:00:00", "dentist"},
		{"dentist on Friday in two weeks", "2026-12-11 09:00:00", "dentist"},
		{"Friday in a fortnight dentist", "2026-12-11 09:00:00", "dentist"},
		{"в пятницу через две недели стоматолог", "2026-12-11 09:00:00", "стоматолог"},
		{"через 2 недели в пятницу в 8 стоматолог", "2026-12-11 08:00:00", "стоматолог"},
		{"Friday in 3 days dentist", ask, ""},
		{"Friday in 6 days dentist", "2026-12-04 09:00:00", "dentist"},
		{"Friday next week dentist", "2026-12-04 09:00:00", "dentist"},
		{"next week on Friday dentist", "2026-12-04 09:00:00", "dentist"},
		{"в пятницу на следующей неделе отчёт", "2026-12-04 09:00:00", "отчёт"},
		{"next week dentist", "2026-11-30 09:00:00", "dentist"},
		{"на следующей неделе отчёт", "2026-11-30 09:00:00", "отчёт"},
		{"this week on Sunday dentist", "2026-11-29 09:00:00", "dentist"},
		{"a week on Friday dentist", "2026-12-11 09:00:00", "dentist"},
		{"two weeks from Friday dentist", "2026-12-18 09:00:00", "dentist"},
		{"Friday week dentist", ask, ""},
		{"Friday after next dentist", ask, ""},
		{"on the weekend clean up", "none", ""},
		{"tomorrow on the weekend clean up", ask, ""},
		// time-before
		{"an hour before 18:00 leave", "2026-11-28 17:00:00", "leave"},
		{"leave an hour before 18:00", "2026-11-28 17:00:00", "leave"},
		{"half an hour before 9 leave", "2026-11-29 08:30:00", "leave"},
		{"10 minutes before noon call", "2026-11-28 11:50:00", "call"},
		{"tomorrow an hour before 18:00 leave", "2026-11-29 17:00:00", "leave"},
		{"3 days before 24 December buy presents", "2026-12-21 09:00:00", "buy presents"},
		{"buy presents 3 days before 24 December", "2026-12-21 09:00:00", "buy presents"},
		{"the day before 24 December at 18:00 wrap presents", "2026-12-23 18:00:00", "wrap presents"},
		{"two weeks prior to 24 December buy presents", "2026-12-10 09:00:00", "buy presents"},
		{"за 3 дня до 24 декабря купить подарки", "2026-12-21 09:00:00", "купить подарки"},
		{"за час до 18:00 выйти", "2026-11-28 17:00:00", "выйти"},
		{"за полчаса до завтрашнего утра выйти", "2026-11-29 08:30:00", "выйти"},
		{"за день до пятницы отчёт", "2026-12-03 09:00:00", "отчёт"},
		{"2 days before Friday report", "2026-12-02 09:00:00", "report"},
		{"an hour before the meeting call Bob", ask, ""},
		{"10 minutes before lunch call Bob", ask, ""},
		{"3 hours before 24 December call", ask, ""},
		{"call mom the evening before 24 December", ask, ""},
		{"call mom before 18:00", ask, ""},
		{"before 18:00 call mom tomorrow", ask, ""},
		// time-trailing-repeat: see TestRepeats
		// time-zone-said
		{"tomorrow at 9am UTC+3 call the office", "2026-11-29 07:00:00", "call the office"},
		{"tomorrow at 9am utc +3 call the office", "2026-11-29 07:00:00", "call the office"},
		{"tomorrow 9:00 +03:00 call the office", "2026-11-29 07:00:00", "call the office"},
		{"tomorrow at 9 GMT-5 call", "2026-11-29 15:00:00", "call"},
		{"tomorrow at 9:00 UTC+5:30 call", "2026-11-29 04:30:00", "call"},
		{"9am UTC call", "2026-11-29 10:00:00", "call"},
		{"call the office at 9am UTC", "2026-11-29 10:00:00", "call the office"},
		{"tomorrow at 9am EST call", "2026-11-29 15:00:00", "call"},
		{"tomorrow at 9am Tokyo time call", "2026-11-29 01:00:00", "call"},
		{"tomorrow at 9am New York time call", "2026-11-29 15:00:00", "call"},
		{"tomorrow at 9 Europe/Moscow call", "2026-11-29 07:00:00", "call"},
		{"tomorrow at 9 São Paulo time call", "2026-11-29 13:00:00", "call"},
		{"завтра в 9 по Москве позвонить", "2026-11-29 07:00:00", "позвонить"},
		{"завтра в 9 по московскому времени позвонить", "2026-11-29 07:00:00", "позвонить"},
		{"завтра в 9 по UTC+3 позвонить", "2026-11-29 07:00:00", "позвонить"},
		{"завтра в 9 по UTC позвонить", "2026-11-29 10:00:00", "позвонить"},
		{"в 15:00 понедельника позвонить", ask, ""},
		{"завтра с утра звонок", ask, ""},
		{"каждый день утром и вечером таблетки", ask, ""},
		{"завтра в 9 мск позвонить", "2026-11-29 07:00:00", "позвонить"},
		{"завтра в 9:00 UTC+3 позвонить", "2026-11-29 07:00:00", "позвонить"},
		{"tomorrow at 9am CST call", ask, ""},
		{"tomorrow at 9am Tokyo call", ask, ""},
		{"tomorrow at 9am in Tokyo call", ask, ""},
		{"tomorrow at 9am Springfield time call", ask, ""},
		{"tomorrow at 9am UTC+99 call", ask, ""},
		{"tomorrow at 9 my time call", "2026-11-29 09:00:00", "call"},
		// time-from-a-day
		{"two days after tomorrow call the office", "2026-12-01 09:00:00", "call the office"},
		{"a week after tomorrow at 10 call", "2026-12-06 10:00:00", "call"},
		{"call the office two days after tomorrow", "2026-12-01 09:00:00", "call the office"},
		{"через 2 дня после завтра позвонить", "2026-12-01 09:00:00", "позвонить"},
		{"через день после 24 декабря позвонить", "2026-12-25 09:00:00", "позвонить"},
		{"3 hours after 18:00 call", "2026-11-28 21:00:00", "call"},
		{"two days after the party call", ask, ""},
		{"an hour from now call", "2026-11-28 11:15:30", "call"},
		{"in two weeks' time call", "2026-12-12 10:15:30", "call"},
		{"через день позвонить", ask, ""},
		// time-two-days-at-once
		{"Monday and Thursday at 9 pills", ask, ""},
		{"Monday, Thursday at 9 pills", ask, ""},
		{"pills on Monday and Thursday", ask, ""},
		{"в понедельник и в четверг в 9 таблетки", ask, ""},
		{"at 9 and 18:00 pills", ask, ""},
		{"в 9 и в 18 таблетки", ask, ""},
		{"today and tomorrow at 9 pills", ask, ""},
		{"tomorrow at 9 or Friday pills", ask, ""},
		// What is left has a time at its edge.
		{"tomorrow call mom at 9", ask, ""},
		{"tomorrow at 9 be ready by 18:00", ask, ""},
		{"at 18:00 buy milk today", ask, ""},
		{"tomorrow at 9 in 20 minutes tea", ask, ""},
		{"in 20 minutes at 9 tea", ask, ""},
		{"at 9 30 call mom", ask, ""},
		{"tomorrow 9 call mom", ask, ""},
		{"finish the report by Friday", ask, ""},
		{"buy tickets for tomorrow", ask, ""},
		{"tomorrow after 18:00 call mom", ask, ""},
		{"завтра до 18:00 позвонить", ask, ""},
		{"завтра после обеда позвонить", ask, ""},
		{"билеты на завтра", ask, ""},
		{"Thursday 4 December party", ask, ""}, // a Friday
		{"5/12 party", ask, ""},
		{"in an hour or two call", ask, ""},
		{"Monday fortnight call", ask, ""},
		{"tomorrow at 9+3 call", ask, ""},
		{"tomorrow at 9 ET call", ask, ""},
		{"tomorrow at 9 West Africa Time call", ask, ""},
		{"tomorrow at lunch call", ask, ""},
		{"завтра в 9 МСК+2 звонок", ask, ""},
		{"завтра в 9 по Урюпинску звонок", ask, ""},
		{"завтра около 9 звонок", ask, ""},
		{"завтра в обед звонок", ask, ""},
		{"завтра с 9 до 10 звонок", ask, ""},
		{"tomorrow 9-10 call", ask, ""},
		{"tomorrow 9am-10am call", ask, ""},
		{"tomorrow at 9 - 10 call", ask, ""},
		{"Mon-Fri 9-17 work", ask, ""},
		{"5 May - 7 May trip", ask, ""},
		{"5 May to 7 May trip", ask, ""},
		{"every morning and evening pills", ask, ""},
		{"tomorrow morning and evening pills", ask, ""},
		{"tomorrow early morning run", ask, ""},
		{"next month call", "2026-12-01 09:00:00", "call"},
		{"next year call", "2027-01-01 09:00:00", "call"},
		{"on Friday: Friday prayers", ask, ""},
		{"tomorrow at 9\nbuy:\n- milk\n- eggs on Friday", "2026-11-29 09:00:00", "buy:\n- milk\n- eggs on Friday"},
		{"tomorrow at 9 - call mom", "2026-11-29 09:00:00", "call mom"},
		{"tomorrow at 9: call mom", "2026-11-29 09:00:00", "call mom"},
		{"call mom (tomorrow at 9)", "2026-11-29 09:00:00", "call mom"},
		// Other ways to say a time.
		{"Sun 9am call", "2026-11-29 09:00:00", "call"},
		{"tomorrow at 09:00Z call", "2026-11-29 10:00:00", "call"},
		{"tomorrow at 9:00+03:00 call", "2026-11-29 07:00:00", "call"},
		{"tomorrow at 9 (UTC+3) call", "2026-11-29 07:00:00", "call"},
		{"завтра в полпервого звонок", "2026-11-29 12:30:00", "звонок"},
		{"за 2 часа до полуночи спать", "2026-11-28 22:00:00", "спать"},
		{"23-го поздравить", "2026-12-23 09:00:00", "поздравить"},
		{"half past nine call", "2026-11-29 09:30:00", "call"},
		{"at half past nine call", "2026-11-29 09:30:00", "call"},
		{"tomorrow at quarter to 10 call", "2026-11-29 09:45:00", "call"},
		{"at a quarter past 11 call", "2026-11-28 11:15:00", "call"},
		{"at ten to nine pm call", "2026-11-28 20:50:00", "call"},
		{"at twenty past eleven call", "2026-11-28 11:20:00", "call"},
		{"at half nine call", ask, ""},
		{"at nine call", "2026-11-29 09:00:00", "call"},
		{"at nine thirty call", "2026-11-29 09:30:00", "call"},
		{"tomorrow at nine o'clock call", "2026-11-29 09:00:00", "call"},
		{"at 1830 call", "2026-11-28 18:30:00", "call"},
		{"at 9 sharp call", "2026-11-29 09:00:00", "call"},
		{"в полдевятого завтра звонок", "2026-11-29 08:30:00", "звонок"},
		{"в половине десятого звонок", "2026-11-29 09:30:00", "звонок"},
		{"завтра без четверти девять звонок", "2026-11-29 08:45:00", "звонок"},
		{"завтра в девять утра звонок", "2026-11-29 09:00:00", "звонок"},
		{"в 9-30 звонок", "2026-11-29 09:30:00", "звонок"},
		{"in a fortnight call", "2026-12-12 10:15:30", "call"},
		{"in a couple of hours call", "2026-11-28 12:15:30", "call"},
		{"in two and a half hours call", "2026-11-28 12:45:30", "call"},
		{"in twenty five minutes call", "2026-11-28 10:40:30", "call"},
		{"in a quarter of an hour call", "2026-11-28 10:30:30", "call"},
		{"in a year call", "2027-11-28 10:15:30", "call"},
		{"через пару часов звонок", "2026-11-28 12:15:30", "звонок"},
		{"через два с половиной часа звонок", "2026-11-28 12:45:30", "звонок"},
		{"через час с половиной звонок", "2026-11-28 11:45:30", "звонок"},
		{"через сутки звонок", "2026-11-29 10:15:30", "звонок"},
		{"через год звонок", "2027-11-28 10:15:30", "звонок"},
		{"через четверть часа звонок", "2026-11-28 10:30:30", "звонок"},
		{"the 3rd of January call", "2027-01-03 09:00:00", "call"},
		{"on the third of January at 10 call", "2027-01-03 10:00:00", "call"},
		{"January the 3rd call", "2027-01-03 09:00:00", "call"},
		{"on the 15th call", "2026-12-15 09:00:00", "call"},
		{"Dec 24, 2027 call", "2027-12-24 09:00:00", "call"},
		{"Friday, 4 December at 9 party", "2026-12-04 09:00:00", "party"},
		{"24/12/2026 party", "2026-12-24 09:00:00", "party"},
		{"12/24 party", "2026-12-24 09:00:00", "party"},
		{"24.12.26 party", "2026-12-24 09:00:00", "party"},
		{"24.12. at 18:00 party", "2026-12-24 18:00:00", "party"},
		{"24-12-2026 party", "2026-12-24 09:00:00", "party"},
		{"2026/12/24 party", "2026-12-24 09:00:00", "party"},
		{"5 числа оплатить", "2026-12-05 09:00:00", "оплатить"},
		{"третьего января оплатить", "2027-01-03 09:00:00", "оплатить"},
		{"24-го декабря в 9 оплатить", "2026-12-24 09:00:00", "оплатить"},
		{"next month on the 5th pay", "2026-12-05 09:00:00", "pay"},
		{"in 999999 weeks call", "the year 21192 is too far away", "call"},
		{"⏰ tomorrow at 9 call", "2026-11-29 09:00:00", "call"},
		{`"tomorrow at 9 call"`, "2026-11-29 09:00:00", "call"},
		// Plain wishes stay plain.
		{"tomorrow at 9 read Every Man in his humour", "2026-11-29 09:00:00", "read Every Man in his humour"},
		{`tomorrow at 9 "Every Friday" rehearsal`, "2026-11-29 09:00:00", `"Every Friday" rehearsal`},
		{`tomorrow at 9 "be ready by 18:00"`, "2026-11-29 09:00:00", "be ready by 18:00"},
		{"завтра в 9 «Каждую пятницу» посмотреть", "2026-11-29 09:00:00", "«Каждую пятницу» посмотреть"},
		{"tomorrow at 9 meditate for 10 minutes", "2026-11-29 09:00:00", "meditate for 10 minutes"},
		{"tomorrow at 9 before work take pills", "2026-11-29 09:00:00", "before work take pills"},
		{"tomorrow at 9 read 1984", "2026-11-29 09:00:00", "read 1984"},
		{"tomorrow at 9 buy an iPhone 12", "2026-11-29 09:00:00", "buy an iPhone 12"},
		{"in 5 minutes second coffee", "2026-11-28 10:20:30", "second coffee"},
		{"at 11 march for the climate", "2026-11-28 11:00:00", "march for the climate"},
		{"at 11 may I ask you", "2026-11-28 11:00:00", "may I ask you"},
		{"at 11 every man for himself", "2026-11-28 11:00:00", "every man for himself"},
		{"at 11:00 west side meeting", "2026-11-28 11:00:00", "west side meeting"},
		{"tomorrow 2 hours of piano", "2026-11-29 09:00:00", "2 hours of piano"},
		{"завтра в 9 поработать час", "2026-11-29 09:00:00", "поработать час"},
		{"завтра в 9 за час до встречи выйти", ask, ""},
		{"tomorrow at 9 ask about the 24/7 support", "2026-11-29 09:00:00", "ask about the 24/7 support"},
		{"tomorrow at 9 second breakfast", "2026-11-29 09:00:00", "second breakfast"},
		{"tomorrow at 9 to be or not to be", "2026-11-29 09:00:00", "be or not to be"},
		{"tomorrow at 9 Berlin wall documentary", "2026-11-29 09:00:00", "Berlin wall documentary"}, // our own zone
		{"meet Tom tomorrow at 9 in Berlin", "2026-11-29 09:00:00", "meet Tom in Berlin"},
		{"meet Tom tomorrow at 9 in New York", ask, ""},
		{"tomorrow at 9 weekly report", "2026-11-29 09:00:00", "weekly report"},
		{"tomorrow at 9 weekend planning", "2026-11-29 09:00:00", "weekend planning"},
		{"tomorrow at 9 and don't forget the keys", "2026-11-29 09:00:00", "and don't forget the keys"},
		{"tomorrow at 9 half marathon", "2026-11-29 09:00:00", "half marathon"},
		{"tomorrow at 9 next steps", "2026-11-29 09:00:00", "next steps"},
		{"tomorrow at 9 10 minutes of yoga", "2026-11-29 09:00:00", "10 minutes of yoga"},
		{"sat nav update tomorrow", "2026-11-29 09:00:00", "sat nav update"},
		{"завтра в 9 день рождения мамы", "2026-11-29 09:00:00", "день рождения мамы"},
		{"завтра в 9 час тишины", "2026-11-29 09:00:00", "час тишины"},
		{"завтра в 9 по делам", "2026-11-29 09:00:00", "по делам"},
		{"завтра в 9 по Zoom созвон", "2026-11-29 09:00:00", "по Zoom созвон"},
		{"завтра в 9 с Олей в кино", "2026-11-29 09:00:00", "с Олей в кино"},
		{"завтра в 9 каждый за себя", "2026-11-29 09:00:00", "каждый за себя"},
		{"завтра в 9 второй завтрак", "2026-11-29 09:00:00", "второй завтрак"},
		{"завтра в 9 до магазина и обратно", "2026-11-29 09:00:00", "до магазина и обратно"},
	} {
		w, err := phrase.ParseWish(c.text, saturday, berlin)
		got := w.At.In(berlin).Format(time.DateTime)
		switch _, unclear := errors.AsType[*phrase.UnclearError](err); {
		case unclear:
			got, w.Text = ask, ""
		case errors.Is(err, phrase.ErrNoTime):
			got = "none"
		case err != nil:
			got = err.Error()
		}
		if got != c.at || w.Text != c.rest || w.Repeat != nil {
			t.Errorf("%s: %s, %q, %v, %v\n want %s, %q", c.text, got, w.Text, w.Repeat, err, c.at, c.rest)
		}
	}
}

// TestRepeats reads what repeats, in words. "next" are the next times in Berlin.
func TestRepeats(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct{ text, repeat, next, rest string }{
		// time-trailing-repeat
		{"at 9 every weekday standup", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "standup"},
		{"every weekday at 9 standup", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "standup"},
		{"standup every weekday at 9", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "standup"},
		{"remind me every day at 9 to stretch", "0 9 * * *", "11-29 09:00 11-30 09:00", "stretch"},
		{"daily at 8:30 pills", "30 8 * * *", "11-29 08:30 11-30 08:30", "pills"},
		{"every day at 9 and 18:00 pills", "0 9,18 * * *", "11-28 18:00 11-29 09:00", "pills"},
		{"every morning run", "0 9 * * *", "11-29 09:00 11-30 09:00", "run"},
		{"every evening at 8 read", "0 20 * * *", "11-28 20:00 11-29 20:00", "read"},
		{"every Monday and Thursday at 9 pills", "0 9 * * 1,4", "11-30 09:00 12-03 09:00", "pills"},
		{"on Mondays and Thursdays at 9 pills", "0 9 * * 1,4", "11-30 09:00 12-03 09:00", "pills"},
		{"pills on Mondays at 9", "0 9 * * 1", "11-30 09:00 12-07 09:00", "pills"},
		{"Monday to Friday at 9 standup", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "standup"},
		{"from Friday to Sunday at 9 rest", "0 9 * * 0,5,6", "11-29 09:00 12-04 09:00", "rest"},
		{"every hour drink", "0 */1 * * *", "11-28 11:00 11-28 12:00", "drink"},
		{"every 30 minutes drink", "*/30 * * * *", "11-28 10:30 11-28 11:00", "drink"},
		{"every half hour drink", "*/30 * * * *", "11-28 10:30 11-28 11:00", "drink"},
		{"каждые полчаса пить", "*/30 * * * *", "11-28 10:30 11-28 11:00", "пить"},
		{"каждый понедельник и каждую среду в 9 отчёт", "0 9 * * 1,3", "11-30 09:00 12-02 09:00", "отчёт"},
		{"on the 1st of every month rent", "0 9 1 * *", "12-01 09:00 01-01 09:00", "rent"},
		{"every month on the 1st and 15th at 10 rent", "0 10 1,15 * *", "12-01 10:00 12-15 10:00", "rent"},
		{"monthly on the 5th rent", "0 9 5 * *", "12-05 09:00 01-05 09:00", "rent"},
		{"every 15th rent", "0 9 15 * *", "12-15 09:00 01-15 09:00", "rent"},
		{"on the first Monday of every month rent", "0 0 9 ? * 2#1", "12-07 09:00 01-04 09:00", "rent"},
		{"on the last Friday of each month at 17:00 report", "0 0 17 ? * 6L", "12-25 17:00 01-29 17:00", "report"},
		{"on the last day of every month report", "0 0 9 L * ?", "11-30 09:00 12-31 09:00", "report"},
		{"every 5 January gift", "0 9 5 1 *", "01-05 09:00 01-05 09:00", "gift"},
		{"every year on 24 December gift", "0 9 24 12 *", "12-24 09:00 12-24 09:00", "gift"},
		{"every weekday at 9 UTC standup", "0 9 * * 1,2,3,4,5", "11-30 10:00 12-01 10:00", "standup"},
		{"каждый день в 9 зарядка", "0 9 * * *", "11-29 09:00 11-30 09:00", "зарядка"},
		{"зарядка каждый будний день в 9", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "зарядка"},
		{"по будням в 9 зарядка", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "зарядка"},
		{"в 9 каждый понедельник отчёт", "0 9 * * 1", "11-30 09:00 12-07 09:00", "отчёт"},
		{"по понедельникам и четвергам в 9 отчёт", "0 9 * * 1,4", "11-30 09:00 12-03 09:00", "отчёт"},
		{"ежедневно в 8 таблетки", "0 8 * * *", "11-29 08:00 11-30 08:00", "таблетки"},
		{"каждое утро зарядка", "0 9 * * *", "11-29 09:00 11-30 09:00", "зарядка"},
		{"каждое 5 число оплата", "0 9 5 * *", "12-05 09:00 01-05 09:00", "оплата"},
		{"5 числа каждого месяца оплата", "0 9 5 * *", "12-05 09:00 01-05 09:00", "оплата"},
		{"раз в неделю отчёт", "0 9 * * 6", "12-05 09:00 12-12 09:00", "отчёт"},
		{"с понедельника по пятницу в 9 зарядка", "0 9 * * 1,2,3,4,5", "11-30 09:00 12-01 09:00", "зарядка"},
		// time-every-second-week
		{"every 2 weeks on Monday at 9 report", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-30 09:00 12-14 09:00", "report"},
		{"every other Friday at 17:00 report", "DTSTART:20261204T170000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0", "12-04 17:00 12-18 17:00", "report"},
		{"every second Tuesday at 9 bins", "DTSTART:20261201T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "12-01 09:00 12-15 09:00", "bins"},
		{"Monday every 2 weeks at 9 report", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-30 09:00 12-14 09:00", "report"},
		{"every 14 days from 14 December at 9 bins", "DTSTART:20261214T090000 RRULE:FREQ=DAILY;INTERVAL=14;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "12-14 09:00 12-28 09:00", "bins"},
		{"every 2 weeks starting Monday at 9 bins", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-30 09:00 12-14 09:00", "bins"},
		{"every fortnight on Monday at 9 bins", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-30 09:00 12-14 09:00", "bins"},
		{"every 3 days water", "DTSTART:20261129T090000 RRULE:FREQ=DAILY;INTERVAL=3;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-29 09:00 12-02 09:00", "water"},
		{"every 90 minutes drink", "DTSTART:20261128T114500 RRULE:FREQ=MINUTELY;INTERVAL=90", "11-28 11:45 11-28 13:15", "drink"},
		{"every 3 months on the 1st tax", "DTSTART:20261201T090000 RRULE:FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "12-01 09:00 03-01 09:00", "tax"},
		{"every day at 9 until 30 November pills", "DTSTART:20261129T090000 RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20261130T235959;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-29 09:00 11-30 09:00", "pills"},
		{"каждые 2 недели в понедельник в 9 отчёт", "DTSTART:20261130T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "11-30 09:00 12-14 09:00", "отчёт"},
		{"раз в две недели по пятницам в 9 отчёт", "DTSTART:20261204T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "12-04 09:00 12-18 09:00", "отчёт"},
		{"каждую вторую пятницу в 9 отчёт", "DTSTART:20261204T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "12-04 09:00 12-18 09:00", "отчёт"},
		{"каждые 14 дней начиная с 14 декабря в 9 мусор", "DTSTART:20261214T090000 RRULE:FREQ=DAILY;INTERVAL=14;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "12-14 09:00 12-28 09:00", "мусор"},
		// Not understood: asked about.
		{"every now and then call mom", "", "", ""},
		{"twice a day pills", "", "", ""},
		{"3 times a day pills", "", "", ""},
		{"два раза в день таблетки", "", "", ""},
		{"every hour from 9 to 17 drink", "", "", ""},
		{"ежедневно с 9 до 18 пить", "", "", ""},
		{"every day at 9 except Sunday pills", "", "", ""},
		{"every day at 9 for two weeks pills", "", "", ""},
		{"every day at 9:00 and 18:30 pills", "", "", ""},
		{"biweekly at 9 report", "", "", ""},
		{"every day tomorrow pills", "", "", ""},
		{"every weekday at 9am CST standup", "", "", ""},
	} {
		w, err := phrase.ParseWish(c.text, saturday, berlin)
		if c.repeat == "" {
			if _, ok := errors.AsType[*phrase.UnclearError](err); !ok {
				t.Errorf("%s: %+v, %v, want a question", c.text, w, err)
			}
			continue
		}
		if err != nil || w.Repeat == nil {
			t.Errorf("%s: %+v, %v", c.text, w, err)
			continue
		}
		var next []string
		for _, at := range times.NextTimes(w.Repeat, saturday, w.Zone, 2) {
			next = append(next, at.In(berlin).Format("01-02 15:04"))
		}
		if got := strings.Join(next, " "); w.Repeat.String() != c.repeat || got != c.next || w.Text != c.rest {
			t.Errorf("%s: %s, %s, %q\nwant %s, %s, %q", c.text, w.Repeat, got, w.Text, c.repeat, c.next, c.rest)
		}
	}
}

package times_test

import (
	"testing"
	"time"

	"klawbot/engine/internal/times"
)

func TestDescribeCron(t *testing.T) {
	for _, c := range []struct{ cron, en, ru string }{
		{"0 9 * * *", "every day at 09:00", "каждый день в 09:00"},
		{"@daily", "every day at 00:00", "каждый день в 00:00"},
		{"@hourly", "every hour", "каждый час"},
		{"0 9,18 * * *", "every day at 09:00 and 18:00", "каждый день в 09:00 и 18:00"},
		{"30 8 * * 1-5", "every day from Monday to Friday at 08:30", "каждый день с понедельника по пятницу в 08:30"},
		{"0 10 * * 6,0", "every Saturday and Sunday at 10:00", "по субботам и воскресеньям в 10:00"},
		{"0 9 * * 1,3,0", "every Monday, Wednesday and Sunday at 09:00", "по понедельникам, средам и воскресеньям в 09:00"},
		{"0 9 * * 7", "every Sunday at 09:00", "по воскресеньям в 09:00"},
		{"0 0 9 ? * 1", "every Sunday at 09:00", "по воскресеньям в 09:00"},
		{"*/5 * * * *", "every 5 minutes", "каждые 5 минут"},
		{"*/2 * * * *", "every 2 minutes", "каждые 2 минуты"},
		{"* * * * *", "every minute", "каждую минуту"},
		{"0 */2 * * *", "every 2 hours", "каждые 2 часа"},
		{"15 * * * *", "at minute 15", "на минуте 15"},
		{"*/30 9-17 * * 1-5", "every 30 minutes, from 09:00 to 17:59 every day from Monday to Friday", "каждые 30 минут, с 09:00 до 17:59 каждый день с понедельника по пятницу"},
		{"*/10 * * * * ?", "every 10 seconds", "каждые 10 секунд"},
		{"15 30 9 * * ?", "every day at 09:30:15", "каждый день в 09:30:15"},
		{"0 9 1,15 * *", "on day 1 and 15 of the month at 09:00", "1 и 15 числа месяца в 09:00"},
		{"0 9 1 * 1", "on day 1 of the month or every Monday at 09:00", "1 числа месяца или по понедельникам в 09:00"},
		{"0 9 1 1 *", "on day 1 of the month at 09:00 in January", "1 числа месяца в 09:00 в январе"},
		{"0 0 12 L * ?", "on the last day of the month at 12:00", "в последний день месяца в 12:00"},
		{"0 0 12 L-2 * ?", "2 days before the last day of the month at 12:00", "за 2 дн. до последнего дня месяца в 12:00"},
		{"0 0 12 LW * ?", "on the last working day (Monday to Friday) of the month at 12:00", "в последний рабочий день (с понедельника по пятницу) месяца в 12:00"},
		{"0 0 12 15W * ?", "on the working day nearest to day 15 of the month at 12:00", "в рабочий день, ближайший к 15-му числу месяца в 12:00"},
		{"0 15 10 ? * 6L 2027-2028", "on the last Friday of the month at 10:15 in 2027 and 2028", "в последнюю пятницу месяца в 10:15 в 2027 и 2028"},
		{"0 15 10 ? * TUE#2", "on the second Tuesday of the month at 10:15", "во второй вторник месяца в 10:15"},
	} {
		got := cron(t, c.cron)
		if en, ru := got.Describe("en"), got.Describe("ru"); en != c.en || ru != c.ru {
			t.Errorf("%s: %q\n      %q", c.cron, en, ru)
		}
	}
}

func TestDescribeTime(t *testing.T) {
	at := time.Date(2026, 11, 28, 8, 0, 5, 0, time.UTC)
	if en, ru := times.DescribeTime(at, zone(t, "Europe/Berlin"), "en"), times.DescribeTime(at.Truncate(time.Minute), time.UTC, "ru"); en != "Sat 2026-11-28 09:00:05" || ru != "сб 2026-11-28 08:00" {
		t.Errorf("%q and %q", en, ru)
	}
}

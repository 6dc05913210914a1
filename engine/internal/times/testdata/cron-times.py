#!/usr/bin/env python3
"""Writes cron-times.json: when cron expressions are due, found the slow way.

Every second (or minute) of real time is looked at, is turned into wall time by
the zone, and is compared with each field. It shares no code and no method with
the package that the table tests.
"""
import calendar
import json
import os
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
DAYS = "SUN MON TUE WED THU FRI SAT".split()


def value(text, names, base):
    return names.index(text) + base if text in names else int(text)


def values(text, low, high, names=(), base=0):
    found = set()
    for part in text.split(","):
        step = 1
        stepped = "/" in part
        if stepped:
            part, step = part.split("/")
        if part in "*?":
            a, b = low, high
        elif "-" in part:
            a, b = (value(p, names, base) for p in part.split("-"))
        else:
            a = value(part, names, base)
            b = high if stepped else a
        found |= set(range(a, b + 1, int(step)))
    return found


def unix_day(dom, dow, d):
    in_month = d.day in values(dom, 1, 31)
    in_week = {v % 7 for v in values(dow, 0, 7, DAYS)}.__contains__(d.isoweekday() % 7)
    if dom[0] in "*?" or dow[0] in "*?":
        return in_month and in_week
    return in_month or in_week


def workday_near(year, month, n):
    last = calendar.monthrange(year, month)[1]
    for offset in (0, -1, 1, 2, -2):
        day = min(n, last) + offset
        if 1 <= day <= last and datetime(year, month, day).weekday() < 5:
            return day


def quartz_day(dom, dow, d):
    last = calendar.monthrange(d.year, d.month)[1]
    weekday = d.isoweekday() % 7 + 1
    if dom == "L":
        return d.day == last
    if dom.startswith("L-"):
        return d.day == last - int(dom[2:])
    if dom == "LW":
        return d.day == workday_near(d.year, d.month, last)
    if dom.endswith("W"):
        return d.day == workday_near(d.year, d.month, int(dom[:-1]))
    if dow == "L":
        return weekday == 7
    if dow.endswith("L"):
        return weekday == value(dow[:-1], DAYS, 1) and d.day > last - 7
    if "#" in dow:
        day, n = dow.split("#")
        same = [x for x in range(1, last + 1) if datetime(d.year, d.month, x).isoweekday() % 7 + 1 == value(day, DAYS, 1)]
        return len(same) >= int(n) and d.day == same[int(n) - 1]
    return d.day in values(dom, 1, 31) and weekday in values(dow, 1, 7, DAYS, 1)


def matcher(cron):
    f = cron.split()
    if len(f) == 5:
        minute, hour, dom, month, dow = f
        second, year, day = "0", "*", unix_day
    else:
        second, minute, hour, dom, month, dow = f[:6]
        year, day = (f[6] if len(f) == 7 else "*"), quartz_day
    s, m, h = values(second, 0, 59), values(minute, 0, 59), values(hour, 0, 23)
    mo, y = values(month, 1, 12, MONTHS, 1), values(year, 1970, 2199)
    return lambda d: (d.second in s and d.minute in m and d.hour in h and d.month in mo and d.year in y and day(dom, dow, d)), s == {0}


def due(cron, zone, after, count, days):
    """The first count times: wall times once, those that are left out when the clock jumps over them."""
    matches, whole_minutes = matcher(cron)
    step = timedelta(minutes=1) if whole_minutes else timedelta(seconds=1)
    start = datetime.fromisoformat(after).astimezone(timezone.utc)
    t = start.replace(second=0, microsecond=0) - timedelta(days=1)
    found, seen = [], set()
    previous = None
    while t < start + timedelta(days=days) and len(found) < count:
        wall = t.astimezone(zone).replace(tzinfo=None, fold=0)
        hit = False
        if previous is not None and wall - previous > step:  # the clock is set forward
            left_out = previous + step
            while left_out < wall:
                hit = hit or matches(left_out)
                left_out += step
        if matches(wall) and wall not in seen:
            seen.add(wall)
            hit = True
        if hit and t > start:
            found.append(t.astimezone(zone).isoformat().replace("+00:00", "Z"))
        if previous is None or wall > previous:
            previous = wall
        t += step
    return found


CASES = []


def case(cron, zone="UTC", after="2026-11-28T03:00:00+00:00", count=4, days=70):
    found = due(cron, ZoneInfo(zone), after, count, days)
    assert found, (cron, zone)
    CASES.append({"cron": cron, "zone": zone, "after": datetime.fromisoformat(after).isoformat().replace("+00:00", "Z"), "next": found})


for cron in ["0 9 * * *", "*/5 * * * *", "7-59/13 8-10 * * *", "0 0 1 * *", "0 9 * * 1-5", "0 9 * * 0", "0 9 * * 7", "0 9 * * 5-7",
             "0 9 * * SUN", "0 0 13 * 5", "0 0 */10 * 1", "30 4 1,15 * 5", "0 12 31 * *", "59 23 31 12 *", "0 0 1 JAN *", "0 9 * DEC-DEC MON,FRI"]:
    case(cron, days=400 if cron.split()[3] != "*" else 70)
for cron in ["0 0 9 ? * 1", "0 0 9 ? * 2-6", "0 0 9 ? * MON-FRI", "0 0 9 ? * 7", "0 0 9 ? * L", "0 0 12 L * ?", "0 0 12 L-2 * ?", "0 0 12 LW * ?",
             "0 0 12 15W * ?", "0 0 12 1W * ?", "0 0 12 31W * ?", "0 0 12 30W * ?", "0 15 10 ? * 6L", "0 15 10 ? * FRIL", "0 15 10 ? * 6#3", "0 15 10 ? * MON#1",
             "0 15 10 ? * TUE#5", "0 0/30 8-9 * * ?", "0 0 * 15 * ?", "0 59 23 L * ?", "0 0 0 1 1 ? 2027", "0 0 9 5 * *", "0 0 23 * * ?"]:
    case(cron, after="2026-11-28T03:00:00+00:00", count=8 if "15 *" in cron else 6, days=260)
case("0 0 * 15 * ?", after="2026-12-15T20:30:00+00:00", count=6, days=40)
case("*/20 * * * * ?", count=5, days=1)
case("5,50 59 23 31 12 ? 2026", after="2026-12-31T23:58:00+00:00", count=2, days=2)
case("0 9 29 2 *", after="2027-12-31T00:00:00+00:00", count=1, days=70)
case("0 0 9 29 2 ?", after="2028-02-28T00:00:00+00:00", count=1, days=3)
case("0 9 28 2 *", after="2027-02-01T00:00:00+00:00", count=1, days=40)
case("0 0 0 L 2 ?", after="2028-02-01T00:00:00+00:00", count=1, days=40)
case("0 0 0 L 2 ?", after="2027-02-01T00:00:00+00:00", count=1, days=40)
case("0 0 9 ? 1 MON 2038", after="2038-01-10T00:00:00+00:00", count=3, days=30)
case("* * * * *", after="2038-01-19T03:14:06+00:00", count=3, days=1)

# Clocks set forward and back, in zones whose change is an hour, half an hour, and whose day is the other way round.
for zone, forward, back, hour in [("Europe/Berlin", "2027-03-27T12:00:00+00:00", "2027-10-30T12:00:00+00:00", 2),
                                  ("America/New_York", "2027-03-13T12:00:00+00:00", "2027-11-06T12:00:00+00:00", 2),
                                  ("Australia/Lord_Howe", "2027-10-02T00:00:00+00:00", "2027-04-03T00:00:00+00:00", 2),
                                  ("Africa/Cairo", "2027-04-29T12:00:00+00:00", "2027-10-28T12:00:00+00:00", 0)]:
    for after in (forward, back):
        case("30 %d * * *" % hour, zone, after, 4, 6)
        case("15 1 * * *", zone, after, 3, 6)
        case("0 %d * * *" % (hour + 1), zone, after, 3, 6)
        case("*/30 * * * *", zone, after, 60, 3)
        case("0 15,45 * * * ?", zone, after, 60, 3)
case("0 0 * * *", "Pacific/Apia", "2011-12-28T00:00:00+00:00", 4, 8)
case("0 12 30 12 *", "Pacific/Apia", "2011-12-28T00:00:00+00:00", 1, 8)

with open(os.path.join(os.path.dirname(__file__), "cron-times.json"), "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")

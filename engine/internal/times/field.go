package times

import (
	"fmt"
	"strconv"
	"strings"

	"klawbot/internal/clip"
)

// mask is a set of numbers below 64: the values that match a field.
type mask uint64

func (m mask) has(n int) bool { return m&(1<<n) != 0 }

// from is the smallest number of the set that is not below n, -1 for none.
func (m mask) from(n int) int {
	for ; n < 64; n++ {
		if m.has(n) {
			return n
		}
	}
	return -1
}

// list are the numbers of the set, in order.
func (m mask) list() []int {
	var all []int
	for n := m.from(0); n >= 0; n = m.from(n + 1) {
		all = append(all, n)
	}
	return all
}

// span is the set of all numbers from low to high.
func span(low, high int) mask {
	var m mask
	for n := low; n <= high; n++ {
		m |= 1 << n
	}
	return m
}

// field is what a field of an expression may hold.
type field struct {
	name      string
	low, high int
	// names are the names of the numbers from first on.
	names []string
	first int
}

var (
	monthNames   = strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
	weekdayNames = strings.Fields("SUN MON TUE WED THU FRI SAT")

	secondField  = field{name: "second", high: 59}
	minuteField  = field{name: "minute", high: 59}
	hourField    = field{name: "hour", high: 23}
	dayField     = field{name: "day of month", low: 1, high: 31}
	monthField   = field{name: "month", low: 1, high: 12, names: monthNames, first: 1}
	weekdayField = field{name: "day of week", high: 7, names: weekdayNames}
	// quartzWeekday counts from 1, and Sunday is the first.
	quartzWeekday = field{name: "day of week", low: 1, high: 7, names: weekdayNames, first: 1}
	yearField     = field{name: "year", low: 1970, high: 2199}
)

// numbers are the values of a list such as "1,5-10,*/15", in no order.
func (f field) numbers(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, step, err := f.part(part)
		if err != nil {
			return nil, err
		}
		for n := low; n <= high; n += step {
			all = append(all, n)
		}
	}
	return all, nil
}

// mask is numbers as a set.
func (f field) mask(text string) (mask, error) {
	var m mask
	all, err := f.numbers(text)
	for _, n := range all {
		m |= 1 << n
	}
	return m, err
}

// part reads one element of a list: a number, a range or *, perhaps with a step.
func (f field) part(text string) (low, high, step int, err error) {
	bounds, by, stepped := strings.Cut(text, "/")
	step = 1
	if stepped {
		if step, err = strconv.Atoi(by); err != nil || step < 1 || step > f.high {
			return 0, 0, 0, fmt.Errorf("%s %q: the step must be a number from 1 to %d", f.name, quote(text), f.high)
		}
	}
	if bounds == "*" || bounds == "?" {
		return f.low, f.high, step, nil
	}
	first, last, ranged := strings.Cut(bounds, "-")
	if low, err = f.number(first); err != nil {
		return 0, 0, 0, err
	}
	high = low
	switch {
	case ranged:
		if high, err = f.number(last); err != nil {
			return 0, 0, 0, err
		}
		if high < low {
			return 0, 0, 0, fmt.Errorf("%s %q: the range ends before it begins", f.name, quote(text))
		}
	case stepped:
		high = f.high
	}
	return low, high, step, nil
}

func (f field) number(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.first + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.low || n > f.high || strings.ContainsAny(text, "+-") {
		return 0, fmt.Errorf("%s %q: must be from %d to %d", f.name, quote(text), f.low, f.high)
	}
	return n, nil
}

// free reports whether a field matches everything.
func free(text string) bool { return text == "*" || text == "?" }

// quote shortens foreign text for an error.
func quote(text string) string { return clip.Runes(text, 40) }

package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// span is a range of parts, or of the lines of one part.
type span struct {
	first, last int
	// from and to are lines of the part first; 0: all of them.
	from, to int
}

// maxSpans bounds how many ranges a call may name.
const maxSpans = 100

// parsePages reads "2-5,9,12-" and "3:10-40"; none means all.
func parsePages(text string) (all []span, err error) {
	wrong := &PagesError{fmt.Sprintf("pages must be like 2-5,9 (lines 10 to 40 of page 3: 3:10-40), not %.60q", text)}
	text = strings.NewReplacer("–", "-", "—", "-", " ", "", "..", "-").Replace(text)
	if text == "" || text == "all" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		part, lines, within := strings.Cut(one, ":")
		var s span
		var ok bool
		if s.first, s.last, ok = parseRange(part); !ok || within && s.first != s.last {
			return nil, wrong
		}
		if within {
			if s.from, s.to, ok = parseRange(lines); !ok {
				return nil, wrong
			}
		}
		if all = append(all, s); len(all) > maxSpans {
			return nil, &PagesError{fmt.Sprintf("pages names more than %d ranges", maxSpans)}
		}
	}
	return all, nil
}

// parseRange reads "4", "4-7" and "4-".
func parseRange(text string) (first, last int, ok bool) {
	a, b, is := strings.Cut(text, "-")
	first, err := strconv.Atoi(a)
	if err != nil || first < 1 {
		return 0, 0, false
	}
	switch {
	case !is:
		return first, first, true
	case b == "":
		return first, math.MaxInt, true
	}
	last, err = strconv.Atoi(b)
	return first, last, err == nil && last >= first
}

// Ranges writes numbers in their order: "2-5,9".
func Ranges(all []int) string {
	var b strings.Builder
	for i := 0; i < len(all); {
		last := i
		for last+1 < len(all) && all[last+1] == all[last]+1 {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(all[i]))
		if last > i {
			b.WriteString("-" + strconv.Itoa(all[last]))
		}
		i = last + 1
	}
	return b.String()
}

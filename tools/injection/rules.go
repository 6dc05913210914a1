package injection

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// signal is a sign of an injection. The weights of signals near each other add up.
type signal struct {
	rule   string
	weight int
	// hard is a sign that an honest text has no reason for.
	hard bool
	// at is the number of the token, start and end the place in the text.
	at, start, end int
}

// The sums of weights that make a level. Block needs a hard signal too.
const (
	sumReview = 3
	sumWarn   = 6
	sumBlock  = 10
)

// near is the distance within which signals add up, in tokens.
const near = 40

// verdict finds signals and adds up those that are near each other.
func (r *reader) verdict() Verdict {
	for i := range r.tokens {
		if c := r.tokens[i].is; c&^(cFill|cMark) != 0 {
			r.look(i, c)
		}
	}
	if r.write {
		r.looped()
	}
	slices.SortStableFunc(r.found, func(a, b signal) int { return a.at - b.at })
	var v Verdict
	for i, s := range r.found {
		if !r.steps.Spend(5) {
			break
		}
		if level := r.level(i); level > None {
			v.Level = max(v.Level, level)
			if len(v.Matches) < maxMatches {
				v.Matches = append(v.Matches, Match{s.rule, excerpt(string(bytes.ToValidUTF8(r.text[s.start:s.end], nil)))})
			}
		}
	}
	return v
}

// level is the level of the i-th signal and those near after it. Each rule counts once.
func (r *reader) level(i int) Level {
	weights := map[string]int{}
	hard := false
	for j := i; j < len(r.found) && j < i+near && r.found[j].at <= r.found[i].at+near; j++ {
		s := r.found[j]
		weights[s.rule] = max(weights[s.rule], s.weight)
		hard = hard || s.hard
	}
	sum := 0
	for _, w := range weights {
		sum += w
	}
	switch {
	case sum >= sumBlock && hard:
		return Block
	case sum >= sumWarn:
		return Warn
	case sum >= sumReview:
		return Review
	}
	return None
}

func (r *reader) signal(rule string, weight int, hard bool, from, to int) {
	if weight > 0 {
		r.found = append(r.found, signal{rule, weight, hard, to, int(r.tokens[from].start), int(r.tokens[to].end)})
	}
}

// is returns what the i-th token means; outside of the text it is a stop.
func (r *reader) is(i int) concept {
	if i < 0 || i >= len(r.tokens) {
		return cStop | cParagraph
	}
	return r.tokens[i].is
}

// first is the first word of the phrase that ends at i.
func (r *reader) first(i int) int { return max(0, i-int(r.tokens[i].span)+1) }

// within finds the first of the next n tokens of the sentence that means c, or -1.
func (r *reader) within(i, n int, c concept) int {
	for j := i + 1; j <= i+n && j < len(r.tokens); j++ {
		if r.tokens[j].is&c != 0 {
			return j
		}
		if r.tokens[j].is&cStop != 0 {
			return -1
		}
	}
	return -1
}

// before is within towards the beginning.
func (r *reader) before(i, n int, c concept) int {
	for j := i - 1; j >= max(0, i-n); j-- {
		if r.tokens[j].is&c != 0 {
			return j
		}
		if r.tokens[j].is&cStop != 0 {
			return -1
		}
	}
	return -1
}

// negated reports whether a word before the phrase that ends at i negates it.
func (r *reader) negated(i int) bool {
	from := r.first(i)
	for j := from - 1; j >= from-2; j-- {
		switch c := r.is(j); {
		case c&cNot != 0:
			return true
		case c&(cFill|cMust|cMaybe|cYour) == 0:
			return false
		}
	}
	return false
}

// look applies every rule to a token.
func (r *reader) look(i int, c concept) {
	if c&cIgnore != 0 {
		r.override(i)
	}
	if c&cLast != 0 {
		r.overrideLast(i)
	}
	if c&cOrder != 0 {
		r.newOrders(i)
	}
	if c&(cYouNow|cRole) != 0 {
		r.role(i, c)
	}
	if c&cSystem != 0 {
		r.system(i)
	}
	if c&cAssistant != 0 {
		r.address(i)
	}
	if c&(cDo|cReveal) != 0 {
		r.leak(i, c)
	}
	if c&cUnbound != 0 && !r.negated(i) && (r.foreign(i) || r.around(i, 6, cYou)) {
		r.signal("frees from rules", 8, false, r.first(i), i)
	}
	for _, s := range simple {
		if c&s.is != 0 {
			r.signal(s.rule, s.weight, false, r.first(i), i)
		}
	}
	if c&cQuiet != 0 && r.within(i, 10, cDo) > 0 {
		r.signal("hides from the user", sumWarn, false, r.first(i), i)
	}
	if c&cLabel != 0 && r.is(i+1)&cColon != 0 && r.lineStart(i) && r.within(i+1, 2, cIgnore|cYouNow|cUnbound) > 0 {
		r.signal("claims to be the system", 4, true, i, i)
	}
	if c&cFree != 0 && r.write {
		r.signal("takes approval away", sumWarn, false, r.first(i), i)
	}
	if c&cAlways != 0 && r.write && r.within(i, 8, cDo) > 0 && r.within(i, 16, cSecret) > 0 {
		r.signal("habit", sumWarn, false, r.first(i), i)
	}
}

// simple are the phrases that are signals by themselves.
var simple = []struct {
	is     concept
	rule   string
	weight int
}{
	{cJailbreak, "jailbreak", 6},
	{cQuiet, "hides from the user", 4},
	{cSteer, "steering", 3},
	{cHint, "hint", 3},
	{cAimed, "speaks to the assistant", 4},
}

// qualifiers say which instructions are meant.
const qualifiers = cPrior | cAll | cYour | cSystem

// override finds "ignore your instructions", the verb first.
func (r *reader) override(i int) {
	if r.negated(i) {
		return
	}
	var quals concept
	best, end := 0, i
	for j := i + 1; j <= i+12 && j < len(r.tokens); j++ {
		c := r.tokens[j].is
		if c&cStop != 0 {
			break
		}
		if c&cTold != 0 && r.first(j) <= i+3 && r.first(j) > i {
			best, end = max(best, r.weighTold(j)), j
		}
		if c&cUser != 0 && (r.is(j+1)&(cMark|cFill|cDo|cMust) != 0 || r.first(j) < j-1) {
			best, end = max(best, 8), j // not "the user agent"
		}
		if c&(cOrder|cWeak) != 0 {
			if w := weigh(c, quals|c&qualifiers|r.after(j)); w > best {
				best, end = w, j
			}
		}
		switch {
		case c&(cOrder|cWeak|cFill|qualifiers|cNew|cComma|cQuote|cAssistant|cMust) != 0:
			quals |= c & qualifiers
		case r.is(j+1)&cPrior != 0 && quals&cPrior == 0: // "your silly previous …"
		case r.inPhrase(j):
		default:
			j = len(r.tokens)
		}
	}
	if best > 0 {
		r.overridden(i, best, quals, r.first(i), end)
	}
}

// weighTold is the weight of the phrase that ends at j and means the text before. In
// "everything above the line" the line is meant.
func (r *reader) weighTold(j int) int {
	if r.is(j)&cPrior != 0 && r.is(j+1)&(cMark|cFill|cNew|cDo) == 0 && !r.foreign(j) {
		return 4
	}
	return 9
}

// foreign reports whether a token is in another script than Latin.
func (r *reader) foreign(i int) bool { return r.text[r.tokens[i].start] >= 0x80 }

// inPhrase reports whether the j-th token is inside a phrase that ends later.
func (r *reader) inPhrase(j int) bool {
	for k := j + 1; k < j+maxPhrase && k < len(r.tokens); k++ {
		if r.tokens[k].is&(cTold|cOrder|cWeak|cPrior|cUser) != 0 && r.first(k) <= j {
			return true
		}
	}
	return false
}

// after are the qualifiers that follow a noun.
func (r *reader) after(j int) concept {
	var quals concept
	for k := j + 1; k <= j+3; k++ {
		c := r.is(k)
		if r.is(k-1)&cMark != 0 || r.plain(k-1) != "the" { // "of the previous pass" is about the pass
			quals |= c & (cPrior | cYour)
		}
		if c&(cFill|qualifiers|cMark) == 0 && !r.inPhrase(k) || c&cStop != 0 {
			break
		}
	}
	return quals
}

// weigh is the weight of an instruction to ignore what c names.
func weigh(c, quals concept) int {
	several := quals&cAll != 0 && quals&cPrior != 0
	switch strong := c&cOrder != 0; {
	case strong && quals != 0:
		return 10
	case strong:
		return 4
	case quals&cYour != 0, several:
		return 8
	case quals != 0:
		return 5
	}
	return 0
}

// told lowers the weight of what is only reported, or optional.
func (r *reader) told(i, weight int, quals concept) int {
	from := r.first(i)
	quoted := r.before(from, 2, cQuote) >= 0
	topic := r.around(from, near, cTopic) || r.before(from, 10, cTells) >= 0
	switch {
	case topic && quoted:
		return min(weight, sumBlock-1)
	case r.before(from, 8, cTells) >= 0 && from > 0 && r.plain(from-1) == "to":
		return min(weight, sumReview)
	case quals&cYour == 0 && (r.before(from, 3, cMaybe) >= 0 || i+1 < len(r.tokens) && r.plain(i+1) == "about"):
		return min(weight, sumReview)
	}
	return weight
}

// around reports whether a token that means c is at most n tokens away.
func (r *reader) around(i, n int, c concept) bool {
	for j := max(0, i-n); j < min(len(r.tokens), i+n); j++ {
		if r.tokens[j].is&c != 0 {
			return true
		}
	}
	return false
}

func (r *reader) plain(i int) string { return string(r.text[r.tokens[i].start:r.tokens[i].end]) }

// denials follow a verb and negate it. They are made on first use: a command in a
// sandbox begins as this program and must start fast.
var denials = sync.OnceValue(func() [][]byte {
	return [][]byte{fold("しない").text, fold("하지").text, fold("마").text, fold("말").text, fold("않").text, fold("ないで").text}
})

// overrideLast is override in languages with the verb last.
func (r *reader) overrideLast(i int) {
	from := r.first(i)
	if r.is(from-1)&cNot != 0 {
		return
	}
	rest := bytes.TrimLeft(r.text[r.tokens[i].end:], " ")
	if slices.ContainsFunc(denials(), func(d []byte) bool { return bytes.HasPrefix(rest, d) }) {
		return
	}
	var quals, noun concept
	start := from
	for j := from - 1; j >= max(0, from-10); j-- {
		c := r.tokens[j].is
		if c&cStop != 0 || c&(cOrder|cWeak|cFill|cIs|qualifiers|cComma|cTold) == 0 {
			break
		}
		quals |= c & qualifiers
		noun |= c & (cOrder | cWeak)
		if c&cTold != 0 {
			noun, quals = noun|cWeak, quals|cPrior|cAll
		}
		start = j
	}
	if noun != 0 {
		r.overridden(i, weigh(noun, quals), quals, start, i)
	}
}

// overridden adds the signal of an override. One that is only reported never blocks.
func (r *reader) overridden(i, weight int, quals concept, from, to int) {
	told := r.told(i, weight, quals)
	r.signal("override", told, told == weight && weight >= 8, from, to)
}

// newOrders finds "your new instructions are".
func (r *reader) newOrders(i int) {
	near := r.is(i) | r.is(i-1) | r.is(i-2)
	if r.is(i-1)&cStop != 0 {
		near = r.is(i)
	}
	is := i + 1
	if r.is(is)&(cNew|cYour|cFill) != 0 {
		is++
	}
	if r.is(is)&(cIs|cColon) == 0 || is >= len(r.tokens) {
		is = -1
	}
	isNew := near&cNew != 0 || r.is(i+1)&cNew != 0
	yours := near&cYour != 0 || r.before(i, 3, cYour) >= 0 || r.is(i+1)&cYour != 0
	switch {
	case isNew && yours && is > 0:
		r.signal("new orders", sumBlock, true, max(0, i-2), is)
	case isNew && is > 0 && r.is(i+1)&cColon != 0:
		r.signal("new orders", 6, false, max(0, i-1), is)
	case isNew && yours:
		r.signal("new orders", 4, false, max(0, i-2), i)
	}
	if at := r.within(i, 3, cAssistant); at > 0 && r.is(at+1)&cColon != 0 {
		r.signal("speaks to the assistant", sumWarn, false, i, at)
	}
	if at := r.within(i, 5, cChanged); at > 0 && yours {
		r.signal("new orders", sumBlock, true, max(0, i-1), at)
	}
}

// role finds a role that the reader is told to play.
func (r *reader) role(i int, c concept) {
	at := r.within(i, 8, cPersona)
	if at < 0 || r.negated(i) || r.first(at) <= r.first(i) && at != i {
		return
	}
	weight := 4
	if c&cYouNow != 0 {
		weight = 7
	}
	r.signal("new role", weight, weight == 7, r.first(i), at)
}

// system finds text that claims to come from the system.
func (r *reader) system(i int) {
	next := r.is(i + 1)
	if end := int(r.tokens[i].end); end < len(r.text) && r.text[end] == ']' {
		next = cColon
	}
	shouted := i+1 < len(r.tokens) && r.text[r.tokens[i+1].start] == '!'
	if next&(cColon|cStop) == 0 || next&cParagraph != 0 || next&cStop != 0 && !shouted {
		return
	}
	if r.is(r.first(i)-1)&(cStop|cQuote|cColon|cComma) == 0 && !r.lineStart(r.first(i)) {
		return
	}
	weight := 4
	if r.within(i+1, 12, cDo|cSteer|cUnbound|cYouNow|cIgnore) > 0 {
		weight = 6
	}
	r.signal("claims to be the system", weight, true, r.first(i), i)
}

// lineStart reports whether the token is the first word of its line.
func (r *reader) lineStart(i int) bool {
	before := r.text[:r.tokens[i].start]
	before = before[max(0, len(before)-20):]
	if at := bytes.LastIndexByte(before, '\n'); at >= 0 {
		before = before[at:]
	} else if len(before) == 20 {
		return false
	}
	return !bytes.ContainsFunc(before, func(c rune) bool { return 'a' <= c && c <= 'z' || c >= 0x80 })
}

// address finds words to the assistant.
func (r *reader) address(i int) {
	if r.is(i+1)&(cComma|cColon) != 0 {
		if at := r.within(i+1, 4, cDo|cIgnore|cReveal|cYouNow|cYour|cMust|cSteer|cQuiet); at > 0 {
			r.signal("speaks to the assistant", 4, false, r.first(i), at)
		}
		if r.human && r.is(i-1)&cParagraph != 0 && r.plain(i) == "assistant" {
			r.signal("false dialogue", 6, false, i, i)
		}
		return
	}
	if must := r.within(i, 2, cMust); must > 0 {
		if at := r.within(must, 3, cDo|cIgnore|cReveal); at > 0 {
			r.signal("speaks to the assistant", 2, false, r.first(i), at)
		}
	}
}

// leak finds instructions to reveal secrets or the prompt.
func (r *reader) leak(i int, c concept) {
	if r.negated(i) {
		return
	}
	if at := r.beside(i, 10, cSecret); at >= 0 {
		r.signal("gives secrets away", 3, false, min(i, at), max(i, at))
	}
	if at := r.beside(i, 6, cPrompt); at >= 0 && c&cReveal != 0 {
		weight := 4
		if r.foreign(i) || r.before(at+1, 6, cYour) >= 0 {
			weight = 6
		}
		r.signal("asks for the prompt", weight, false, min(i, at), max(i, at))
	}
}

// beside finds the object of a verb, at most n tokens after it, or before it in languages
// with the verb last; else -1.
func (r *reader) beside(i, n int, c concept) int {
	at := r.within(i, n, c)
	if at < 0 && r.foreign(i) {
		at = r.before(i, 6, c)
	}
	return at
}

// What a schedule must not run: a shell that reads a pipe, and destructive commands.
var (
	pipedInto = regexp.MustCompile(`\|\s*(?:((?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b)|(?:ba)?sh)`)
	ruins     = regexp.MustCompile(`\brm -rf? [/~]|/dev/tcp/`)
)

// pipers are downloads before a pipe, and their largest distance from it, in bytes of
// the line. With beginnings the reader of the pipe may be a longer word.
var pipers = []struct {
	name       string
	near       int
	beginnings bool
}{{"curl", 300, false}, {"wget", 300, false}, {"fetch", 300, false}, {"iwr", 300, false}, {"base64 -d", 100, true}, {"base64 --decode", 100, true}}

// looped finds what a schedule must not run.
func (r *reader) looped() {
	at := ruins.FindIndex(r.text)
	for from := 0; at == nil && from < len(r.text); {
		pipe := pipedInto.FindSubmatchIndex(r.text[from:])
		if pipe == nil {
			return
		}
		if start := pipedFrom(r.text[:from+pipe[0]], pipe[2] < 0); start >= 0 {
			at = []int{start, from + pipe[1]}
		}
		from += pipe[0] + 1
	}
	if at != nil {
		r.found = append(r.found, signal{"runs a download", sumBlock, true, 0, at[0], at[1]})
	}
}

// pipedFrom is where the download at the end of text begins, or -1.
func pipedFrom(text []byte, beginning bool) int {
	line := max(0, len(text)-400)
	line += bytes.LastIndexAny(text[line:], "\n|") + 1
	for _, p := range pipers {
		if at := bytes.LastIndex(text[line:], []byte(p.name)); at >= 0 && len(text)-line-at-len(p.name) <= p.near && (p.beginnings || !beginning) {
			return line + at
		}
	}
	return -1
}

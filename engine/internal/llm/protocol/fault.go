package protocol

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"klawbot/engine/internal/llm"
	"klawbot/internal/clip"
)

const (
	maxErrorBody = 64 << 10
	maxMessage   = 500 // runes of a provider's words
)

// refusal reads a response with an error status.
func (r *Response) refusal(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		return r.failure(err)
	}
	f := ReadFault(resp.StatusCode, body)
	if f.Message == "" {
		f.Message = http.StatusText(resp.StatusCode)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		f.Message = "the server redirects to " + redirectHost(resp) + "; set baseURL to the address that answers"
	}
	f.readLimit(resp.Header, time.Now())
	e := f.Classify()
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		if e.Kind == llm.BadRequest {
			e.Kind = llm.Overloaded
		}
	case "false":
		if e.Kind == llm.Overloaded {
			e.Kind = llm.BadRequest
		}
	}
	e.RequestID = r.RequestID
	e.Message = r.endpoint.conceal(e.Message)
	return e
}

// readLimit reads from the header of a refusal when it may be tried again.
func (f *Fault) readLimit(h http.Header, now time.Time) {
	if wait := retryAfter(h, now); wait > 0 {
		f.wait = wait
	} else if f.wait == 0 && f.status == http.StatusTooManyRequests {
		f.wait = limitReset(h, now)
	}
}

func redirectHost(resp *http.Response) string {
	location, err := resp.Location()
	if err != nil {
		return "nowhere"
	}
	return location.Scheme + "://" + location.Host
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" {
			return clip.Runes(id, 100)
		}
	}
	return ""
}

var keyShape = regexp.MustCompile(`(?i)\bsk-[\w*.-]{6,}|\bbearer\s+[\w.~+/*=-]{6,}`)

// conceal takes keys out of a provider's words: some quote what they refuse.
func (e *Endpoint) conceal(message string) string {
	if e.key != "" {
		message = strings.NewReplacer(e.key, "[redacted]", url.QueryEscape(e.key), "[redacted]").Replace(message)
	}
	return keyShape.ReplaceAllString(message, "[redacted]")
}

// Fault is an error of a provider, read out of whatever it sent.
type Fault struct {
	// Message is in the provider's words, on one line; empty for none.
	Message string

	status int
	code   string // its code, type and status words, in lower case
	param  string
	wait   time.Duration
	daily  bool // a limit for a day is used up
	window int
}

type wireError struct {
	Message  Text            `json:"message"`
	Detail   Text            `json:"detail"`
	Type     Text            `json:"type"`
	Code     Text            `json:"code"`
	Status   Text            `json:"status"`
	Param    Text            `json:"param"`
	Window   Count           `json:"n_ctx"`
	Details  json.RawMessage `json:"details"`
	Metadata json.RawMessage `json:"metadata"`
}

// ReadFault reads an error: an object, a text or a list under "error", an object
// without it, a web page, or nothing. A status of 0 means that the error came
// inside an answer.
func ReadFault(status int, body []byte) Fault {
	f := Fault{status: status}
	trimmed := strings.TrimSpace(string(body))
	if strings.HasPrefix(trimmed, "[") {
		var list []json.RawMessage
		if json.Unmarshal([]byte(trimmed), &list) == nil && len(list) > 0 {
			trimmed = string(list[0])
		}
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
		wireError
	}
	if json.Unmarshal([]byte(trimmed), &outer) != nil {
		f.Message = OneLine(stripTags(trimmed))
		return f
	}
	e := outer.wireError
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &e) != nil {
		var words Text
		_ = words.UnmarshalJSON(outer.Error) // it is valid JSON
		e.Message = words
	}
	f.read(e)
	return f
}

func (f *Fault) read(e wireError) {
	f.code = strings.ToLower(string(e.Code) + " " + string(e.Type) + " " + string(e.Status))
	f.param = string(e.Param)
	f.Message = string(e.Message)
	if f.Message == "" {
		f.Message = string(e.Detail)
	}
	var metadata struct {
		Raw Text `json:"raw"`
	}
	if json.Unmarshal(e.Metadata, &metadata) == nil && metadata.Raw != "" {
		f.Message += ": " + string(metadata.Raw)
	}
	f.Message = OneLine(f.Message)
	if f.window = e.Window.N; f.window == 0 {
		f.window = statedWindow(f.Message)
	}
	if n, err := strconv.Atoi(string(e.Code)); err == nil && f.status == 0 && n >= 400 && n < 600 {
		f.status = n
	}
	all := f.code + " " + f.Message + " " + string(e.Details) + string(e.Metadata)
	f.wait = statedWait(all, time.Now())
	f.daily = perDay.MatchString(all) && !perMinute.MatchString(all)
	if googleDay.MatchString(all) { // the wait that it states is of another limit
		f.daily = true
		f.wait = untilMidnight(time.Now(), "America/Los_Angeles")
	}
}

// Classify says what kind of error the fault is.
func (f Fault) Classify() *llm.Error {
	e := &llm.Error{Status: f.status, Message: f.Message, RetryAfter: f.wait}
	e.Kind, e.Feature = f.kind()
	switch {
	case e.Kind == llm.RateLimit:
		e.Daily = f.daily || f.wait >= dayLike
	case e.Kind == llm.ContextOverflow:
		e.Window = f.window
	case e.Kind == llm.Overloaded && loading.MatchString(f.Message):
		e.Loading, e.RetryAfter = true, cmp.Or(e.RetryAfter, 2*time.Second)
	}
	if e.Message == "" {
		e.Message = "the provider sent neither an answer nor an error"
	}
	return e
}

// dayLike is from when a wait can only be that for the limit of a day.
const dayLike = 12 * time.Hour

var (
	// perDay finds that a limit is one for a day.
	perDay = regexp.MustCompile(`(?i)per[ _-]?day|\b[rt]pd\b|\bdaily|daily_?limit|\bday limit|每日|每天|суточн|дневн`)
	// perMinute finds that it is one for less; a message may name both.
	perMinute = regexp.MustCompile(`(?i)per[ _-]?(?:minute|min|second|sec)\b|/ ?min|\b[rt]p[ms]\b`)
	// googleDay finds Google's limits for a day, which end at midnight in California.
	googleDay = regexp.MustCompile(`(?i)perday[\s\S]*generativelanguage|generativelanguage[\s\S]*perday`)
	// statedWaits find a time to wait in words: "try again in 1.5s", and Google's
	// "retryDelay": "34s".
	statedWaits = regexp.MustCompile(`(?i)(?:(?:try again|retry|resets?|available(?: again)?) (?:in|after)|"retryDelay":\s*")\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b[\s,]*(?:and\s*)?)+|(?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`)
	waitUnits   = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|h|m|s)`)
	// statedTimes find when a limit ends, as a date.
	statedTimes = regexp.MustCompile(`(?i)(?:resets?|until|again|available|after)\D{0,30}(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?`)
	statedEpoch = regexp.MustCompile(`(?i)ratelimit-reset"?:\s*"?(\d{10,13})\b`)
)

// statedWait finds how long to wait in the words of an error, 0 when it does not say.
func statedWait(message string, now time.Time) time.Duration {
	if m := statedWaits.FindStringSubmatch(message); m != nil {
		var sum time.Duration
		for _, unit := range waitUnits.FindAllStringSubmatch(m[1], -1) {
			d, err := time.ParseDuration(unit[1] + strings.ToLower(unit[2]))
			if err != nil {
				return 0
			}
			sum += d
		}
		return sum
	}
	if m := statedTimes.FindStringSubmatch(message); m != nil {
		zone := strings.Replace(strings.NewReplacer("UTC", "Z", ":", "").Replace(m[4]), "Z", "+0000", 1)
		at, err := time.Parse("2006-01-02 15:04:05-0700", m[1]+" "+m[2]+cmp.Or(m[3], ":00")+cmp.Or(zone, "+0000"))
		if err == nil {
			return max(0, at.Sub(now))
		}
	}
	if m := statedEpoch.FindStringSubmatch(message); m != nil {
		return untilEpoch(m[1], now)
	}
	return 0
}

// untilMidnight is how long the day lasts in a zone, 0 when that is not known.
func untilMidnight(now time.Time, name string) time.Duration {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return 0
	}
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, zone).Sub(now)
}

// untilEpoch is how long it is until a time in seconds or milliseconds.
func untilEpoch(text string, now time.Time) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	at := time.Unix(n, 0)
	if n > 1e11 {
		at = time.UnixMilli(n)
	}
	return min(max(0, at.Sub(now)), mostWait)
}

// limitReset reads from a header when a limit ends: a time, seconds, or a duration.
func limitReset(h http.Header, now time.Time) time.Duration {
	var longest time.Duration
	for _, name := range []string{"X-Ratelimit-Reset", "X-Ratelimit-Reset-Requests", "X-Ratelimit-Reset-Tokens", "Ratelimit-Reset"} {
		value := h.Get(name)
		if d, err := time.ParseDuration(value); err == nil {
			longest = max(longest, min(d, mostWait))
		} else if n, err := strconv.ParseFloat(value, 64); err == nil && n < 1e9 {
			longest = max(longest, bounded(n))
		} else if at, err := time.Parse(time.RFC3339, value); err == nil {
			longest = max(longest, min(at.Sub(now), mostWait))
		} else {
			longest = max(longest, untilEpoch(value, now))
		}
	}
	return longest
}

// retryAfter reads how long to wait from a header: milliseconds, seconds or a
// date. 0 means that it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// mostWait bounds what a provider may ask for.
const mostWait = 366 * 24 * time.Hour

func bounded(seconds float64) time.Duration {
	if !(seconds > 0) { // also not a number
		return 0
	}
	return time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second))
}

var (
	titleTag = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	anyTag   = regexp.MustCompile(`(?s)<(?:style|script)[^>]*>.*?</(?:style|script)>|<[^>]*>`)
)

// stripTags keeps the words of a web page, its title if it has one.
func stripTags(page string) string {
	if m := titleTag.FindStringSubmatch(page); m != nil {
		return m[1]
	}
	if strings.HasPrefix(page, "<") {
		return anyTag.ReplaceAllString(page, " ")
	}
	return page
}

// OneLine makes foreign words fit for a log.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return clip.Runes(strings.Join(strings.Fields(s), " "), maxMessage)
}

package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// line is a rule as JSON: what it matches and the reply it gives.
//
//	{"match":"^add (.*)","call":{"name":"file_write","arguments":{"path":"a","content":"$1"}}}
//	{"role":"tool","match":"","text":"done","delay":"300ms"}
//	{"match":"fail","status":429,"retryAfter":"2","times":1}
type line struct {
	// Role is "user" (default) or "tool": what the last message must be.
	Role  string `json:"role"`
	Match string `json:"match"`
	// Pictures is how many pictures the last message must have; without it any number.
	// "{pictures}" in the text of the reply describes them: "red 640x480, blue 8x8".
	Pictures *int `json:"pictures"`
	// Times is how often the rule may be used, 0 for always.
	Times      int        `json:"times"`
	Text       string     `json:"text"`
	Think      string     `json:"think"`
	Call       *lineCall  `json:"call"`
	Calls      []lineCall `json:"calls"`
	Finish     string     `json:"finish"`
	Delay      string     `json:"delay"`
	PieceDelay string     `json:"pieceDelay"`
	Pieces     int        `json:"pieces"`
	Status     int        `json:"status"`
	Message    string     `json:"message"`
	Code       string     `json:"code"`
	RetryAfter string     `json:"retryAfter"`
	Body       string     `json:"body"`
	Type       string     `json:"contentType"`
	Fault      Fault      `json:"fault"`
}

type lineCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (l line) reply() (Reply, error) {
	r := Reply{
		Text: l.Text, Thinking: l.Think, Finish: l.Finish, Pieces: l.Pieces, Status: l.Status, Message: l.Message,
		Code: l.Code, RetryAfter: l.RetryAfter, Body: l.Body, ContentType: l.Type, Fault: l.Fault,
	}
	switch l.Fault {
	case "", ResetBefore, ResetAfter, StallBefore, StallAfter, Truncate, Malformed:
	default:
		return r, fmt.Errorf("unknown fault %q", l.Fault)
	}
	var err error
	if r.Delay, err = duration(l.Delay); err != nil {
		return r, err
	}
	if r.PieceDelay, err = duration(l.PieceDelay); err != nil {
		return r, err
	}
	calls := l.Calls
	if l.Call != nil {
		calls = append(calls, *l.Call)
	}
	for _, c := range calls {
		arguments := string(c.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		r.Calls = append(r.Calls, Call{ID: c.ID, Name: c.Name, Arguments: arguments})
	}
	return r, nil
}

func duration(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	return time.ParseDuration(s)
}

type rule struct {
	role  string
	match *regexp.Regexp
	left  int // how often it may still be used, -1 for always
	// pictures is how many the message must have, nil for any number.
	pictures *int
	reply    Reply
}

// Rules returns a function for Respond that follows rules, one JSON object a
// line; blank lines and lines that begin with # are left out. The first rule
// whose regular expression matches the last message answers; $1 in texts and
// arguments is what its first group matched. When none matches the reply is
// "OK".
func Rules(text []byte) (func(Request) Reply, error) {
	var rules []*rule
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || raw[0] == '#' {
			continue
		}
		r, err := parseRule(raw)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rules = append(rules, r)
	}
	var mu sync.Mutex
	return func(req Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range rules {
			if reply, ok := r.try(req); ok {
				return reply
			}
		}
		return Reply{Text: "OK"}
	}, nil
}

func parseRule(raw []byte) (*rule, error) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return nil, err
	}
	reply, err := l.reply()
	if err != nil {
		return nil, err
	}
	r := &rule{role: l.Role, reply: reply, left: l.Times, pictures: l.Pictures}
	if r.left == 0 {
		r.left = -1
	}
	switch r.role {
	case "":
		r.role = "user"
	case "user", "tool":
	default:
		return nil, fmt.Errorf("role %q is neither user nor tool", r.role)
	}
	r.match, err = regexp.Compile(l.Match)
	return r, err
}

func (r *rule) try(req Request) (Reply, bool) {
	last := req.Last()
	text := last.Text()
	found := r.match.FindStringSubmatchIndex(text)
	if last.Role != r.role || found == nil || r.left == 0 || r.pictures != nil && *r.pictures != len(last.Pictures) {
		return Reply{}, false
	}
	if r.left > 0 {
		r.left--
	}
	reply := r.reply
	reply.Text = strings.ReplaceAll(string(r.match.ExpandString(nil, reply.Text, text, found)), "{pictures}", last.seen())
	reply.Calls = nil
	for _, c := range r.reply.Calls {
		c.Arguments = r.expandJSON(c.Arguments, text, found)
		reply.Calls = append(reply.Calls, c)
	}
	return reply, true
}

// expandJSON puts what was matched into JSON, as the inside of a string.
func (r *rule) expandJSON(arguments, text string, found []int) string {
	if !strings.Contains(arguments, "$") {
		return arguments
	}
	var quoted strings.Builder
	shifted := make([]int, len(found))
	for i := 0; i < len(found); i += 2 {
		shifted[i] = quoted.Len()
		if found[i] >= 0 {
			part, _ := json.Marshal(text[found[i]:found[i+1]]) // a string always marshals
			quoted.Write(part[1 : len(part)-1])
		}
		shifted[i+1] = quoted.Len()
	}
	return string(r.match.ExpandString(nil, arguments, quoted.String(), shifted))
}

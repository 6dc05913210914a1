package tools

import (
	"crypto/sha256"
	"encoding/json"

	"klawbot/tools/params"
)

// Loop detects a model that repeats itself in one turn. The zero value is ready.
type Loop struct{ seen map[[sha256.Size]byte]int }

// How often the same call with the same result is taken.
const (
	// LoopHint is when the model is told.
	LoopHint = 3
	// LoopEnd is when the turn has to end.
	LoopEnd = 5
)

// Note counts a call and its result, and returns how often the turn has seen the pair.
func (l *Loop) Note(name string, arguments json.RawMessage, r Result) int {
	text, err := json.Marshal([]string{name, canonical(arguments), r.Output, r.Error})
	if err != nil {
		return 1 // texts can always be encoded
	}
	if l.seen == nil {
		l.seen = map[[sha256.Size]byte]int{}
	}
	key := sha256.Sum256(text)
	l.seen[key]++
	return l.seen[key]
}

// canonical sorts the members of an object, so that spelling does not matter. Other
// texts stay as they are.
func canonical(arguments json.RawMessage) string {
	args, err := params.Parse(arguments)
	if err != nil {
		return string(arguments)
	}
	text, err := json.Marshal(args)
	if err != nil {
		return string(arguments)
	}
	return string(text)
}

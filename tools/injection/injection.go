// Package screen looks for prompt injections: text from outside that speaks to
// the model as if it gave it orders. It is a smoke detector, no wall: it knows
// phrases in many languages and the usual disguises, and a clever text passes
// it. What keeps harm away are the policy and the sandbox.
//
// It reads a text once, in a time that grows with its length and nothing else: what
// unfolds to much more than it seems to be is suspicious for that.
// It does not change texts; see Defuse for the one exception.
package injection

import (
	"encoding/json"
	"slices"
	"strings"

	"klawbot/internal/clip"
	"klawbot/tools/budget"
)

// Level is how much a text looks like an injection.
type Level int

// The levels, from nothing to what no model should read.
const (
	None Level = iota
	// Review is worth a line in the log.
	Review
	// Warn is shown with a warning before it.
	Warn
	// Block is not shown.
	Block
)

var levelNames = []string{"none", "review", "warn", "block"}

func (l Level) String() string { return levelNames[l] }

// MarshalJSON writes the level as its name.
func (l Level) MarshalJSON() ([]byte, error) { return json.Marshal(l.String()) }

// UnmarshalJSON reads a name of a level.
func (l *Level) UnmarshalJSON(text []byte) error {
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	*l = Level(max(0, slices.Index(levelNames, name)))
	return nil
}

// Match is one thing that was found.
type Match struct {
	// Rule names what was found: "override", "role token", "hidden text", …
	Rule string `json:"rule"`
	// Text is the place in its plain form: lower case, without disguises. It is
	// foreign text.
	Text string `json:"text"`
}

// Verdict is what the screen says of a text.
type Verdict struct {
	Level   Level   `json:"level"`
	Matches []Match `json:"matches"`
}

// Rules are the names of what was found, each once, in order. Unlike the places
// they are ours and may be logged.
func (v Verdict) Rules() []string {
	var names []string
	for _, m := range v.Matches {
		if !slices.Contains(names, m.Rule) {
			names = append(names, m.Rule)
		}
	}
	return names
}

// maxMatches bounds the matches of a verdict.
const maxMatches = 20

// Text screens text from outside that a model is about to read.
func Text(text string) Verdict { return screen(text, false) }

// Write screens text that is about to be kept and will be read by a model
// later, such as a memory or the message of a schedule. What would be an order
// there counts more than in a page that is read once: words that take approvals
// away, downloads that are piped into a shell.
func Write(text string) Verdict { return screen(text, true) }

func screen(text string, write bool) Verdict {
	return within(text, write, budget.For(len(text)))
}

// within screens a text within a budget. What is more than that, once it is
// unfolded, is itself a reason to warn.
func within(text string, write bool, steps *budget.Budget) Verdict {
	f := fold(text)
	v := newReader(f.text, write, steps).verdict()
	for _, h := range f.hidden {
		v = v.and(hidden(h, write, steps))
	}
	for _, view := range views(text, f) {
		v = v.and(newReader(view, write, steps).verdict())
	}
	if steps.Spent() {
		v = Verdict{Warn, []Match{{budget.ErrTooComplex.Error(), excerpt(strings.ToValidUTF8(text[:min(len(text), 1000)], ""))}}}.and(v)
	}
	return v
}

// and is the graver of two verdicts, with what both found.
func (v Verdict) and(w Verdict) Verdict {
	all := slices.Concat(v.Matches, w.Matches)
	return Verdict{max(v.Level, w.Level), all[:min(len(all), maxMatches)]}
}

// hidden is the verdict on text that no reader sees. That it is hidden is
// itself a reason to warn.
func hidden(h concealed, write bool, steps *budget.Budget) Verdict {
	v := newReader(fold(h.text).text, write, steps).verdict()
	level := h.level
	if v.Level >= Review {
		level = max(level, Warn)
	}
	if level == None {
		return Verdict{}
	}
	return v.and(Verdict{level, []Match{{h.rule, excerpt(h.text)}}})
}

// excerpt is the beginning of a text, for a Match.
func excerpt(text string) string { return clip.Runes(text, 120) }

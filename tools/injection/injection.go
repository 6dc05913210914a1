// Package injection looks for prompt injections: untrusted text with instructions
// for the model. It knows phrases in many languages and the usual disguises. A
// clever text passes it; the policy and the sandbox prevent harm.
//
// Its time grows linearly with the text. A text that unfolds to much more than
// its length gets a warning for that. Only Defuse changes a text.
package injection

import (
	"slices"
	"strings"

	"klawbot/internal/clip"
	"klawbot/tools/budget"
)

// Level is how much a text looks like an injection.
type Level int

// The levels.
const (
	None   Level = iota
	Review       // logged
	Warn         // shown with a warning
	Block        // not shown
)

var levelNames = []string{"none", "review", "warn", "block"}

func (l Level) String() string { return levelNames[l] }

// MarshalText writes the level's name, also in JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name of a level.
func (l *Level) UnmarshalText(name []byte) error {
	*l = Level(max(0, slices.Index(levelNames, string(name))))
	return nil
}

// Match is one finding.
type Match struct {
	// Rule is its kind: "override", "role token", "hidden text", …
	Rule string `json:"rule"`
	// Text is the passage, lower case and without disguises. It is untrusted.
	Text string `json:"text"`
}

// Verdict is the result for a text.
type Verdict struct {
	Level   Level   `json:"level"`
	Matches []Match `json:"matches"`
}

// Rules are the kinds of the findings, each once, in order. Unlike the passages
// they may be logged.
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

// Text checks untrusted text that a model will read once.
func Text(text string) Verdict { return within(text, false, budget.For(len(text))) }

// Write checks text that is stored and read later, such as a memory or the
// message of a schedule. It is stricter: it also finds words that switch
// approvals off and downloads piped into a shell.
func Write(text string) Verdict { return within(text, true, budget.For(len(text))) }

// within checks a text within a budget. A text that needs more gets a warning.
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

// and is the higher level with the findings of both.
func (v Verdict) and(w Verdict) Verdict {
	all := slices.Concat(v.Matches, w.Matches)
	return Verdict{max(v.Level, w.Level), all[:min(len(all), maxMatches)]}
}

// hidden is the verdict on invisible text. Hiding it is a finding of its own.
func hidden(text string, write bool, steps *budget.Budget) Verdict {
	return newReader(fold(text).text, write, steps).verdict().and(Verdict{Warn, []Match{{"hidden text", excerpt(text)}}})
}

// excerpt is the beginning of a text, for a Match.
func excerpt(text string) string { return clip.Runes(text, 120) }

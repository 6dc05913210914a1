package prompt

import (
	"encoding/json"
	"fmt"
	"slices"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
)

// withoutSkills takes the texts of skills out of the history: a skill counts in
// the turn that loads it, later ones only know that it was loaded.
func (b *Builder) withoutSkills(history []store.Message) []store.Message {
	names := map[string]string{}
	for _, m := range history {
		for _, c := range m.Body.Calls() {
			if b.config.LoadsSkill(c.Name) {
				names[c.ID] = skillOf(c.Arguments)
			}
		}
	}
	if len(names) == 0 {
		return history
	}
	kept := slices.Clone(history)
	for i, m := range kept {
		kept[i].Body.Blocks = forgetful(m.Body.Blocks, names)
	}
	return kept
}

// skillOf is the skill that a call asked for.
func skillOf(arguments string) string {
	var call struct{ Name string }
	if err := json.Unmarshal([]byte(arguments), &call); err != nil {
		return "" // mended by the tool, not worth it here
	}
	return call.Name
}

// forgetful are blocks in which the results of the named calls are short.
func forgetful(blocks []llm.Block, names map[string]string) []llm.Block {
	short := slices.Clone(blocks)
	for i, b := range short {
		if b.Result == nil || b.Result.Failed {
			continue
		}
		if name, ok := names[b.Result.CallID]; ok {
			r := *b.Result
			r.Text = fmt.Sprintf("skill '%s' was loaded", name)
			short[i].Result = &r
		}
	}
	return short
}

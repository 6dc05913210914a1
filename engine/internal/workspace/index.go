package workspace

import (
	"fmt"
	"strings"
)

// The bounds of the section about skills: it is a part of every request.
const (
	maxDescribed  = 15
	maxSkillWords = 12
)

// Index is the section of the system prompt that lists the skills, "" without any.
func (s *Skills) Index() string {
	list, err := s.List()
	if err != nil || len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Skills\n\nCall skill_load before a task that one of these fits:\n")
	for i, k := range list {
		if i == maxDescribed {
			fmt.Fprintf(&b, "\n%d more: skill_list", len(list)-i)
			break
		}
		b.WriteString("\n- " + k.Name + ": " + inFewWords(k.Description))
	}
	return b.String()
}

// inFewWords is the first sentence of a description, or its first words.
func inFewWords(description string) string {
	words := strings.Fields(description)
	for i, w := range words {
		switch {
		case i == maxSkillWords:
			return strings.Join(words[:i], " ") + " …"
		case strings.HasSuffix(w, "."):
			return strings.TrimSuffix(strings.Join(words[:i+1], " "), ".")
		}
	}
	return description
}

package workspace

import "strings"

// maxDescribed is how many skills the prompt has with their descriptions.
const maxDescribed = 5

// Index is the section of the system prompt that lists the skills, "" without any.
func (s *Skills) Index() string {
	list, err := s.List()
	if err != nil || len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Skills\n\nInstructions for certain kinds of tasks. When a task fits one, call skill_load with its name before you begin, and follow it. Load none that the task does not need.\n")
	if len(list) > maxDescribed {
		names := make([]string, len(list))
		for i, k := range list {
			names[i] = k.Name
		}
		b.WriteString("\n" + strings.Join(names, ", ") + "\n\nTo see what they are for, call skill_list.")
		return b.String()
	}
	for _, k := range list {
		b.WriteString("\n- " + k.Name + ": " + k.Description)
	}
	return b.String()
}

package web

// Patterns are those of all pages.
func Patterns() (all []string) {
	for _, p := range pages {
		all = append(all, p.pattern)
	}
	return all
}

// Texts are all texts.
func Texts() map[string][2]string { return allTexts }

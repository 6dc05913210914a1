package workspace

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"klawbot/internal/clip"

	"go.yaml.in/yaml/v3"
)

// The limits of a frontmatter.
const (
	maxFrontmatter = 16 << 10 // bytes
	maxSkillName   = 64       // characters
	maxDescription = 1024     // characters
)

// frontmatter reads the name and the description at the head of a SKILL.md.
func frontmatter(text string) (name, description string, err error) {
	head, err := headOf(text)
	if err != nil {
		return "", "", err
	}
	var fields struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	}
	if err := yaml.Unmarshal([]byte(head), &fields); err != nil {
		why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
		return "", "", fmt.Errorf("the frontmatter is not YAML with two texts: %s", strings.TrimSuffix(why, ":"))
	}
	name, description = oneLine(fields.Name), oneLine(fields.Description)
	switch {
	case name == "":
		return "", "", errors.New("the frontmatter has no name")
	case description == "":
		return "", "", errors.New("the frontmatter has no description")
	case !isSkillName(name):
		return "", "", fmt.Errorf("the name may have up to %d letters, digits, - and _", maxSkillName)
	}
	return name, clip.Runes(description, maxDescription), nil
}

// headOf is the text between the first line --- and the next one.
func headOf(text string) (string, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", errors.New("does not begin with a frontmatter (a line --- and then name and description)")
	}
	length := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == "---" {
			return rest[:length], nil
		}
		if length += len(line); length > maxFrontmatter {
			break
		}
	}
	if length >= maxFrontmatter {
		return "", fmt.Errorf("the frontmatter is longer than %d KiB", maxFrontmatter>>10)
	}
	return "", errors.New("the frontmatter does not end (a second line --- is missing)")
}

// oneLine is a text in one line of the prompt.
func oneLine(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(clean), " ")
}

func isSkillName(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (i == 0 || r != '-' && r != '_') {
			return false
		}
	}
	return utf8.RuneCountInString(name) <= maxSkillName
}

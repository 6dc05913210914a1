package memory

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestCoreMemory(t *testing.T) {
	c := NewCore(t.TempDir())
	facts, err := c.Facts()
	if text, _ := facts.JSON(); err != nil || text != "{\n  \"user\": {},\n  \"agent\": {}\n}" || facts.String() != "" {
		t.Errorf("an empty one is %q, %v", text, err)
	}
	if _, had, err := c.Set("user", "name", "Anna"); had || err != nil {
		t.Errorf("the first value: had %v, %v", had, err)
	}
	if before, had, err := c.Set("user", "name", "Anna B.\nBerlin"); before != "Anna" || !had || err != nil {
		t.Errorf("the second value: %q before, %v, %v", before, had, err)
	}
	if _, _, err := c.Set("world", "x", "y"); !errors.Is(err, ErrSection) {
		t.Errorf("a foreign section: %v", err)
	}
	if _, err := c.Delete("agent", "mood"); !errors.Is(err, ErrNoKey) {
		t.Errorf("a key that is not there: %v", err)
	}
	if facts, err = NewCore(strings.TrimSuffix(c.Path(), "/memory/core_memory.json")).Facts(); err != nil || facts.String() != "[user]\nname: Anna B. Berlin" {
		t.Errorf("read again it is %q, %v", facts, err)
	}
	if text, err := os.ReadFile(c.Path() + ".bak"); err != nil || !strings.Contains(string(text), `"Anna"`) {
		t.Errorf("the backup is %q, %v", text, err)
	}
}

// TestTwoProcessesChangeTheCoreMemory: a command beside the running bot takes nothing
// away that the bot writes, and the other way round.
func TestTwoProcessesChangeTheCoreMemory(t *testing.T) {
	dir := t.TempDir()
	var both sync.WaitGroup
	for _, section := range []string{"user", "agent"} {
		c := NewCore(dir)
		both.Go(func() {
			for i := range 20 {
				if _, _, err := c.Set(section, fmt.Sprint("key", i), "value"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	if facts, err := NewCore(dir).Facts(); err != nil || len(facts.User) != 20 || len(facts.Agent) != 20 {
		t.Errorf("%d and %d of 20 facts are there, %v", len(facts.User), len(facts.Agent), err)
	}
}

func TestCoreMemoryUndo(t *testing.T) {
	c := NewCore(t.TempDir())
	if _, err := c.Undo(); !errors.Is(err, ErrNoChange) {
		t.Errorf("before any change: %v", err)
	}
	for _, name := range []string{"Anna", "Bea"} {
		if _, _, err := c.Set("user", "name", name); err != nil {
			t.Fatal(err)
		}
		before := map[string]string{"Anna": "", "Bea": "[user]\nname: Anna"}[name]
		for _, want := range []string{before, "[user]\nname: " + name} { // the second undoes the undo
			if facts, err := c.Undo(); err != nil || facts.String() != want {
				t.Errorf("after %s it is %q, %v, want %q", name, facts, err, want)
			}
			if facts, err := c.Facts(); err != nil || facts.String() != want {
				t.Errorf("after %s the file has %q, %v, want %q", name, facts, err, want)
			}
		}
	}
	if _, err := c.Delete("user", "name"); err != nil {
		t.Fatal(err)
	}
	if facts, err := c.Undo(); err != nil || facts.User["name"] != "Bea" {
		t.Errorf("what was deleted: %v, %v", facts, err)
	}
	if err := os.WriteFile(c.Path(), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if facts, err := c.Undo(); err != nil || len(facts.User) != 0 {
		t.Errorf("over a broken file: %v, %v", facts, err)
	}
}

func TestCoreMemoryIsEditedByHand(t *testing.T) {
	c := NewCore(t.TempDir())
	if _, _, err := c.Set("agent", "a", "b"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"user": {"age": 30, "pets": ["cat"], "x": null}}`: "[user]\nage: 30\npets: [\"cat\"]\nx: ",
		"":   "",
		"{}": "",
	} {
		if err := os.WriteFile(c.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if facts, err := c.Facts(); err != nil || facts.String() != want {
			t.Errorf("%s is %q, %v, want %q", text, facts, err, want)
		}
	}
	if err := os.WriteFile(c.Path(), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Set("user", "k", "v"); err == nil || !strings.Contains(err.Error(), "mend it by hand") {
		t.Errorf("over a broken file: %v", err)
	}
	if text, err := os.ReadFile(c.Path()); err != nil || string(text) != "{broken" {
		t.Errorf("a broken file became %q, %v", text, err)
	}
}

// TestCoreMemoryKeepsSectionsThatNobodyReads: a change by a tool takes nothing away
// that somebody wrote.
func TestCoreMemoryKeepsSectionsThatNobodyReads(t *testing.T) {
	c := NewCore(t.TempDir())
	if err := c.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(), []byte("\ufeff{\r\n\"pets\": {\"cat\": \"Pixel\"}, \"user\": {\"name\": \"Zoe\"}, \"agent\": null}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Set("agent", "mood", "calm"); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "user": {
    "name": "Zoe"
  },
  "agent": {
    "mood": "calm"
  },
  "pets": {
    "cat": "Pixel"
  }
}
`
	if text, err := os.ReadFile(c.Path()); err != nil || string(text) != want {
		t.Errorf("the file has %q, %v", text, err)
	}
	if facts, err := c.Facts(); err != nil || !slices.Equal(facts.Others(), []string{"pets"}) || strings.Contains(facts.String(), "Pixel") {
		t.Errorf("read again it is %q with %q, %v", facts, facts.Others(), err)
	}
}

func TestCoreMemoryErrorsAreForPeople(t *testing.T) {
	c := NewCore(t.TempDir())
	if err := c.Ensure(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{\n  \"user\": {\n    \"name\": \"Zoe\"\n": "line 4 is no JSON", "[]": "it must be as {", `{"user": []}`: "it must be as {", `"x"`: "it must be as {",
	} {
		if err := os.WriteFile(c.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		facts, err := c.Facts()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "json:") || facts.String() != "" {
			t.Errorf("%q: %q, %v", text, facts, err)
		}
	}
}

func TestCoreMemoryKeepsWhatManyWriteAtOnce(t *testing.T) {
	c := NewCore(t.TempDir())
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, _, err := c.Set("user", string(rune('a'+i)), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if facts, err := c.Facts(); err != nil || len(facts.User) != 20 {
		t.Errorf("%d facts are there, %v", len(facts.User), err)
	}
}

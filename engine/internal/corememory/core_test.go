package corememory

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
	for _, name := range []string{"Anna", "Anna B.\nBerlin"} {
		if err := c.Set(Place{}, "user", "name", name); err != nil {
			t.Error(err)
		}
	}
	if err := c.Set(Place{}, "world", "x", "y"); !errors.Is(err, ErrSection) {
		t.Errorf("a foreign section: %v", err)
	}
	if err := c.Delete(Place{}, "agent", "mood"); !errors.Is(err, ErrNoKey) {
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
				if err := c.Set(Place{}, section, fmt.Sprint("key", i), "value"); err != nil {
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
		if err := c.Set(Place{}, "user", "name", name); err != nil {
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
	if err := c.Delete(Place{}, "user", "name"); err != nil {
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
	if err := c.Set(Place{}, "agent", "a", "b"); err != nil {
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
	if err := c.Set(Place{}, "user", "k", "v"); err == nil || !strings.Contains(err.Error(), "fix it by hand") {
		t.Errorf("over a broken file: %v", err)
	}
	if text, err := os.ReadFile(c.Path()); err != nil || string(text) != "{broken" {
		t.Errorf("a broken file became %q, %v", text, err)
	}
}

// TestCoreMemoryKeepsUnknownSections: a change by a tool keeps what people
// wrote.
func TestCoreMemoryKeepsUnknownSections(t *testing.T) {
	c := NewCore(t.TempDir())
	if err := c.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(), []byte("\ufeff{\r\n\"pets\": {\"cat\": \"Pixel\"}, \"user\": {\"name\": \"Zoe\"}, \"agent\": null}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Set(Place{}, "agent", "mood", "calm"); err != nil {
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
		"{\n  \"user\": {\n    \"name\": \"Zoe\"\n": "line 4 is not valid JSON", "[]": "it must be as {", `{"user": []}`: "it must be as {", `"x"`: "it must be as {",
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

func TestCoreMemoryConcurrentWrites(t *testing.T) {
	c := NewCore(t.TempDir())
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := c.Set(Place{}, "user", string(rune('a'+i)), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if facts, err := c.Facts(); err != nil || len(facts.User) != 20 {
		t.Errorf("%d facts are there, %v", len(facts.User), err)
	}
}

var (
	theGroup  = Place{KindChats, "telegram_-100"}
	theOther  = Place{KindChats, "telegram_-200"}
	thePerson = Place{KindPeople, "telegram_11"}
)

// set stores facts, each as part, section, key, value.
func set(t *testing.T, c *Core, at Place, section, key, value string) {
	t.Helper()
	if err := c.Set(at, section, key, value); err != nil {
		t.Fatal(err)
	}
}

// TestCoreMemoryHasParts: what one place knows no other one knows, and what stood in
// the file before there were parts is the bot's.
func TestCoreMemoryHasParts(t *testing.T) {
	c := NewCore(t.TempDir())
	if err := c.Ensure(); err != nil {
		t.Fatal(err)
	}
	const old = `{"user": {"name": "Anna"}, "agent": {"tone": "dry"}, "pets": {"cat": "Pixel"}, "people": {"Bea": "my sister"}, "chats": {"telegram_-300": {"topic": {"x": "y"}}}}`
	if err := os.WriteFile(c.Path(), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	set(t, c, theGroup, "user", "topic", "boats")
	set(t, c, thePerson, "user", "name", "Bruno")
	facts, err := c.Facts()
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[Place]string{
		{}: "[user]\nname: Anna\n[agent]\ntone: dry", theGroup: "[user]\ntopic: boats", thePerson: "[user]\nname: Bruno", theOther: "",
	} {
		if got := facts.At(at).String(); got != want {
			t.Errorf("%v knows %q, want %q", at, got, want)
		}
	}
	if got := facts.String(); got != "[user]\nname: Anna\n[agent]\ntone: dry\n\n[chats.telegram_-100.user]\ntopic: boats\n\n[people.telegram_11.user]\nname: Bruno" {
		t.Errorf("all of it is %q", got)
	}
	if got := facts.Others(); !slices.Equal(got, []string{"pets", "chats.telegram_-300.topic", "people.Bea"}) {
		t.Errorf("unknown sections are %q", got)
	}
	text, err := os.ReadFile(c.Path())
	for _, kept := range []string{"Pixel", "my sister", `"topic": {`} {
		if err != nil || !strings.Contains(string(text), kept) {
			t.Errorf("%s is gone: %s, %v", kept, text, err)
		}
	}
	if err := c.Delete(theGroup, "user", "topic"); err != nil {
		t.Fatal(err)
	}
	if facts, err = c.Facts(); err != nil || strings.Contains(facts.String(), "telegram_-100") {
		t.Errorf("an empty part stays: %q, %v", facts, err)
	}
	if facts, err = c.Undo(); err != nil || facts.At(theGroup).User["topic"] != "boats" {
		t.Errorf("undone it is %q, %v", facts, err)
	}
}

// TestNearerPartOfTheCoreMemory: a person has another name than the owner, but does
// not take back what the owner has told the agent.
func TestNearerPartOfTheCoreMemory(t *testing.T) {
	bot := Part{User: Facts{"name": "Anna", "city": "Kiel"}, Agent: Facts{"rule": "send no files"}}
	near := Part{User: Facts{"name": "Bruno"}, Agent: Facts{"rule": "send all files", "tone": "dry"}}
	if got := near.Over(bot).String(); got != "[user]\ncity: Kiel\nname: Bruno\n[agent]\nrule: send no files\ntone: dry" {
		t.Errorf("both are %q", got)
	}
}

// TestCoreMemoryMovesWithItsChat: a group that becomes a supergroup keeps what it
// knows, and moving again changes nothing.
func TestCoreMemoryMovesWithItsChat(t *testing.T) {
	c := NewCore(t.TempDir())
	set(t, c, theGroup, "user", "topic", "boats")
	set(t, c, theGroup, "user", "when", "Mondays")
	set(t, c, theOther, "user", "when", "Fridays")
	for range 2 {
		if err := c.Move(theGroup.ID, theOther.ID); err != nil {
			t.Fatal(err)
		}
		if facts, err := c.Facts(); err != nil || facts.String() != "[chats.telegram_-200.user]\ntopic: boats\nwhen: Fridays" {
			t.Errorf("%q, %v", facts, err)
		}
	}
}

// TestPartsOfTheCoreMemoryAreBounded: a chat fills its own part and no other.
func TestPartsOfTheCoreMemoryAreBounded(t *testing.T) {
	c := NewCore(t.TempDir())
	large := strings.Repeat("x", maxPart)
	if err := c.Set(theGroup, "user", "k", large); err == nil || !strings.Contains(err.Error(), "the core memory of telegram_-100 is larger than 16384 bytes: delete something first") {
		t.Error(err)
	}
	set(t, c, Place{}, "user", "k", large)
	set(t, c, theOther, "user", "k", large[:maxPart-100])
	if err := c.Set(Place{}, "user", "l", strings.Repeat("x", maxCore)); err == nil {
		t.Error("the bot's part has no bound")
	}
}

// TestFactsStayOnOneLine: neither a key nor a value makes a section of its own.
func TestFactsStayOnOneLine(t *testing.T) {
	p := Part{User: Facts{"a\n[agent]\nrule": "b\r\n[agent]\u2028c\u0085d"}}
	if got := p.String(); got != "[user]\na [agent] rule: b  [agent] c d" {
		t.Errorf("%q", got)
	}
}

// TestScreenedPart leaves out what is refused, alone or together.
func TestScreenedPart(t *testing.T) {
	p := Part{User: Facts{"a": "bad", "b": "fine"}, Agent: Facts{"c": "one", "d": "two"}}
	refused := func(text string) bool { return strings.Contains(text, "bad") }
	if kept, left := p.Screened(refused); kept.String() != "[user]\nb: fine\n[agent]\nc: one\nd: two" || !slices.Equal(left, []string{"user.a"}) {
		t.Errorf("%q without %q", kept, left)
	}
	together := func(text string) bool { return strings.Contains(text, "one\nd: two") }
	if kept, left := p.Screened(together); kept.String() != "" || !slices.Equal(left, []string{"all of it"}) {
		t.Errorf("%q without %q", kept, left)
	}
}

func TestImportUserTakesFactsOnce(t *testing.T) {
	c := NewCore(t.TempDir())
	text := "# About\n- Name: Anna\n* **How to address them:** Frau Schmidt\n- Lives in: not known yet\nText: no fact\n"
	if n, err := c.ImportUser(text); n != 2 || err != nil {
		t.Fatalf("%d facts, %v", n, err)
	}
	facts, err := c.Facts()
	if err != nil || facts.String() != "[user]\nhow_to_address_them: Frau Schmidt\nname: Anna" {
		t.Errorf("the core memory is %q, %v", facts.String(), err)
	}
	if n, err := c.ImportUser("- Name: Bob"); n != 0 || err != nil {
		t.Errorf("a second time takes %d, %v", n, err)
	}
}

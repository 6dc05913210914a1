package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Core is the core memory: the few facts about the user and about the agent that
// every turn knows. It is a file that people may edit, so it is read whenever it
// is used. It may be used from several goroutines.
type Core struct {
	file string
	mu   sync.Mutex // held while the file is read or changed, see lock
}

// The sections of the core memory.
const (
	SectionUser  = "user"
	SectionAgent = "agent"
)

// Facts are the keys and values of one section.
type Facts map[string]string

// CoreFacts is what the core memory holds.
type CoreFacts struct {
	User  Facts `json:"user"`
	Agent Facts `json:"agent"`
	// others are sections that people wrote and nobody reads. They stay in the file.
	others map[string]json.RawMessage
}

// Others are the names of sections that nobody reads.
func (f CoreFacts) Others() []string { return slices.Sorted(maps.Keys(f.others)) }

// Errors of the core memory.
var (
	ErrSection = errors.New("section must be 'user' or 'agent'")
	ErrNoKey   = errors.New("no such key")
	// ErrNoChange is there when nothing was changed yet.
	ErrNoChange = errors.New("the core memory was not changed yet")
)

// maxCore bounds the file: it is a part of every request to a model.
const maxCore = 64 << 10

// NewCore returns the core memory of a data folder.
func NewCore(data string) *Core {
	return &Core{file: filepath.Join(data, "memory", "core_memory.json")}
}

// Path is the file.
func (c *Core) Path() string { return c.file }

// Facts reads the core memory. Where there is no file it is empty.
func (c *Core) Facts() (CoreFacts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// Ensure makes the file when it is not there.
func (c *Core) Ensure() error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(c.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.write(CoreFacts{User: Facts{}, Agent: Facts{}})
}

// userLine is a line of USER.md that states a fact: "- Name: Anna".
var userLine = regexp.MustCompile(`^\s*[-*]\s+\**([^:*]{1,60}?)\**:\**\s*(\S.*)$`)

// unknown is what the template of USER.md has for a fact.
const unknown = "not known yet"

// ImportUser takes over the facts of USER.md, once: where there is a core memory,
// it wins. It returns how many it took.
func (c *Core) ImportUser(text string) (taken int, err error) {
	unlock, err := c.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	if _, err := os.Stat(c.file); !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	facts := CoreFacts{User: Facts{}, Agent: Facts{}}
	for line := range strings.Lines(text) {
		m := userLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || strings.TrimSpace(m[2]) == unknown {
			continue
		}
		key := strings.Join(strings.Fields(strings.ToLower(m[1])), "_")
		facts.User[key] = strings.TrimSpace(m[2])
	}
	if len(facts.User) == 0 {
		return 0, nil
	}
	return len(facts.User), c.write(facts)
}

func (c *Core) read() (CoreFacts, error) {
	facts := CoreFacts{User: Facts{}, Agent: Facts{}}
	f, err := os.Open(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return facts, nil
	}
	if err != nil {
		return facts, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCore+1))
	if err != nil {
		return facts, err
	}
	if len(text) > maxCore {
		return facts, fmt.Errorf("%s is larger than %d bytes: make it shorter, every request carries it", c.file, maxCore)
	}
	if text = bytes.TrimPrefix(text, []byte(byteOrderMark)); len(bytes.TrimSpace(text)) == 0 {
		return facts, nil
	}
	if err := facts.parse(text); err != nil {
		return CoreFacts{User: Facts{}, Agent: Facts{}},
			fmt.Errorf("%s is no core memory (%w): mend it by hand; what it was before its last change is in %s", c.file, err, filepath.Base(c.backup()))
	}
	return facts, nil
}

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\ufeff"

// errShape is the error of what is JSON and no core memory.
var errShape = errors.New(`it must be as {"user": {"name": "Anna"}, "agent": {}}`)

// parse reads the text of a file. The error is for the person who wrote it.
func (f *CoreFacts) parse(text []byte) error {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(text, &sections); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("line %d is no JSON", 1+bytes.Count(text[:min(int(e.Offset), len(text))], []byte("\n")))
		}
		return errShape
	}
	for name, facts := range map[string]*Facts{SectionUser: &f.User, SectionAgent: &f.Agent} {
		part, ok := sections[name]
		delete(sections, name)
		if !ok || string(part) == "null" {
			continue
		}
		if err := json.Unmarshal(part, facts); err != nil {
			return errShape
		}
	}
	f.others = sections
	return nil
}

// encode is the text of the file.
func (f CoreFacts) encode() ([]byte, error) {
	if len(f.others) == 0 {
		return json.MarshalIndent(f, "", "  ")
	}
	all := []string{SectionUser, SectionAgent}
	sections := map[string]any{SectionUser: f.User, SectionAgent: f.Agent}
	for _, name := range f.Others() {
		all, sections[name] = append(all, name), f.others[name]
	}
	var flat, indented bytes.Buffer
	for i, name := range all {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(sections[name])
		if err != nil {
			return nil, err
		}
		flat.WriteByte("{,"[min(i, 1)])
		flat.Write(key)
		flat.WriteByte(':')
		flat.Write(value)
	}
	flat.WriteByte('}')
	err := json.Indent(&indented, flat.Bytes(), "", "  ")
	return indented.Bytes(), err
}

// UnmarshalJSON also takes values that people write without quotes.
func (f *Facts) UnmarshalJSON(text []byte) error {
	var raw map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&raw); err != nil {
		return err
	}
	*f = Facts{}
	for key, value := range raw {
		switch v := value.(type) {
		case string:
			(*f)[key] = v
		case nil:
			(*f)[key] = ""
		default:
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			(*f)[key] = string(text)
		}
	}
	return nil
}

// Set stores a fact. Before tells what was there.
func (c *Core) Set(section, key, value string) (before string, had bool, err error) {
	err = c.change(section, func(f Facts) error {
		before, had = f[key]
		f[key] = value
		return nil
	})
	return before, had, err
}

// Delete removes a fact; one that is not there is ErrNoKey.
func (c *Core) Delete(section, key string) (before string, err error) {
	err = c.change(section, func(f Facts) error {
		var had bool
		if before, had = f[key]; !had {
			return ErrNoKey
		}
		delete(f, key)
		return nil
	})
	return before, err
}

// Undo brings back what the core memory was before its last change, and returns
// it. A second time it brings back the change. Without a change it is
// ErrNoChange.
func (c *Core) Undo() (CoreFacts, error) {
	unlock, err := c.lock()
	if err != nil {
		return CoreFacts{}, err
	}
	defer unlock()
	if _, err := os.Stat(c.backup()); errors.Is(err, fs.ErrNotExist) {
		return CoreFacts{}, ErrNoChange
	}
	facts, err := (&Core{file: c.backup()}).read()
	if err != nil {
		return facts, err
	}
	return facts, c.write(facts)
}

func (c *Core) change(section string, change func(Facts) error) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	facts, err := c.read()
	if err != nil {
		return err
	}
	var part Facts
	switch section {
	case SectionUser:
		part = facts.User
	case SectionAgent:
		part = facts.Agent
	default:
		return ErrSection
	}
	if err := change(part); err != nil {
		return err
	}
	return c.write(facts)
}

func (c *Core) backup() string { return c.file + ".bak" }

// write puts the file in place in one step and keeps the one before it. The caller
// has the lock.
func (c *Core) write(facts CoreFacts) error {
	text, err := facts.encode()
	if err != nil {
		return err
	}
	if len(text) > maxCore {
		return fmt.Errorf("the core memory would be larger than %d bytes: delete something first, or use memory_save", maxCore)
	}
	dir := filepath.Dir(c.file)
	old, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte("{}\n"), nil // which the first change can go back to
	}
	if err != nil {
		return err
	}
	if err := replaceFile(dir, c.backup(), old); err != nil {
		return err
	}
	return replaceFile(dir, c.file, append(text, '\n'))
}

func replaceFile(dir, name string, text []byte) (err error) {
	f, err := os.CreateTemp(dir, ".core-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// JSON is the core memory as the file has it.
func (f CoreFacts) JSON() (string, error) {
	text, err := json.MarshalIndent(f, "", "  ")
	return string(text), err
}

// String is the core memory as a prompt has it: "[user]" and a line "key: value"
// for each fact. Empty sections are left out.
func (f CoreFacts) String() string {
	var b strings.Builder
	for _, section := range []struct {
		name  string
		facts Facts
	}{{SectionUser, f.User}, {SectionAgent, f.Agent}} {
		if len(section.facts) == 0 {
			continue
		}
		fmt.Fprintf(&b, "[%s]\n", section.name)
		for _, key := range slices.Sorted(maps.Keys(section.facts)) {
			fmt.Fprintf(&b, "%s: %s\n", key, strings.ReplaceAll(section.facts[key], "\n", " "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

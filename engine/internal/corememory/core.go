// Package corememory keeps the few facts that every prompt contains, in a file that
// people may edit.
package corememory

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
	"strings"
	"sync"

	"klawbot/internal/atomicfile"
)

// Core is the core memory: facts about the user and the agent, in a part for the whole
// bot, one for each chat and one for each user. People may edit its file, so each use
// reads it. It is safe for several goroutines.
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

// Errors of the core memory.
var (
	ErrSection = errors.New("section must be 'user' or 'agent'")
	ErrNoKey   = errors.New("no such key")
	// ErrNoChange means that there is nothing to undo.
	ErrNoChange = errors.New("the core memory was not changed yet")
)

// The limits in bytes.
const (
	maxCoreFile = 4 << 20
	maxCore     = 64 << 10 // the bot's part, which every request contains
	maxPart     = 16 << 10 // every other part
)

// NewCore returns the core memory of a data directory.
func NewCore(data string) *Core {
	return &Core{file: filepath.Join(data, "memory", "core_memory.json")}
}

// Path is the file.
func (c *Core) Path() string { return c.file }

// Facts reads the core memory. Without a file it is empty.
func (c *Core) Facts() (CoreFacts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// Ensure creates the file if it is missing.
func (c *Core) Ensure() error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(c.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.write(noFacts())
}

// userLine is a line of USER.md that states a fact: "- Name: Anna".
var userLine = regexp.MustCompile(`^\s*[-*]\s+\**([^:*]{1,60}?)\**:\**\s*(\S.*)$`)

// unknown is the value of a fact in the template of USER.md.
const unknown = "not known yet"

// ImportUser copies the facts of USER.md, unless there is a core memory already. It
// returns how many it copied.
func (c *Core) ImportUser(text string) (taken int, err error) {
	unlock, err := c.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	if _, err := os.Stat(c.file); !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	facts := noFacts()
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
	facts := noFacts()
	f, err := os.Open(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return facts, nil
	}
	if err != nil {
		return facts, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCoreFile+1))
	if err != nil {
		return facts, err
	}
	if len(text) > maxCoreFile {
		return facts, fmt.Errorf("%s is larger than %d bytes: make it shorter", c.file, maxCoreFile)
	}
	if text = bytes.TrimPrefix(text, []byte("\ufeff")); len(bytes.TrimSpace(text)) == 0 {
		return facts, nil
	}
	err = facts.parse(text)
	if large := (*largeError)(nil); errors.As(err, &large) {
		return noFacts(), fmt.Errorf("%s: %w: make it shorter, every request carries it", c.file, err)
	}
	if err != nil {
		return noFacts(), fmt.Errorf("%s is invalid (%w): fix it by hand; its version before the last change is in %s", c.file, err, filepath.Base(c.backup()))
	}
	return facts, nil
}

// UnmarshalJSON also accepts values that people write without quotes.
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

// Set stores a fact in a part.
func (c *Core) Set(at Place, section, key, value string) error {
	return c.change(at, section, func(f Facts) error {
		f[key] = value
		return nil
	})
}

// Delete removes a fact from a part; the error for an unknown one is ErrNoKey.
func (c *Core) Delete(at Place, section, key string) error {
	return c.change(at, section, func(f Facts) error {
		if _, had := f[key]; !had {
			return ErrNoKey
		}
		delete(f, key)
		return nil
	})
}

// Undo restores the core memory before its last change, and returns it. A second Undo
// restores the change. Without a change the error is ErrNoChange.
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

// Move gives the facts of a chat to the chat that it has become, whose own facts win.
func (c *Core) Move(from, to string) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	facts, err := c.read()
	if err != nil {
		return err
	}
	old, has := facts.Chats[from]
	if !has || from == to {
		return nil
	}
	delete(facts.Chats, from)
	if known, has := facts.Chats[to]; has {
		maps.Copy(old.User, known.User)
		maps.Copy(old.Agent, known.Agent)
	}
	facts.Chats[to] = old
	return c.write(facts)
}

func (c *Core) change(at Place, section string, change func(Facts) error) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	facts, err := c.read()
	if err != nil {
		return err
	}
	part := facts.At(at)
	there, err := part.section(section)
	if err != nil {
		return err
	}
	if err := change(there); err != nil {
		return err
	}
	facts.put(at, part)
	return c.write(facts)
}

// Changed reports whether there is a change that Undo takes back.
func (c *Core) Changed() bool {
	_, err := os.Stat(c.backup())
	return err == nil
}

func (c *Core) backup() string { return c.file + ".bak" }

// write replaces the file in one step and keeps a backup. The caller holds the lock.
func (c *Core) write(facts CoreFacts) error {
	text, err := json.MarshalIndent(facts, "", "  ")
	if err != nil {
		return err
	}
	if err := facts.fits(len(text)); err != nil {
		return fmt.Errorf("%w: delete something first, or use memory_save", err)
	}
	old, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte("{}\n"), nil // so that the first change can be undone
	}
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.backup(), old, 0o600); err != nil {
		return err
	}
	return atomicfile.Write(c.file, append(text, '\n'), 0o600)
}

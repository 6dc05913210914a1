package corememory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Place says which part of the core memory is meant. The zero value is the bot's.
type Place struct {
	// Kind is "" for the bot, else KindChats or KindPeople.
	Kind string
	// ID is a chat in its text form ("telegram_-100123"), for a user the private chat.
	ID string
}

// The kinds of parts beside the bot's, as the file names them.
const (
	KindChats  = "chats"
	KindPeople = "people"
)

// Part is the core memory of one place.
type Part struct {
	User, Agent Facts
	// others are unknown sections, and raw is an invalid part. People wrote them into
	// the file; they stay there.
	others map[string]json.RawMessage
	raw    json.RawMessage
}

// CoreFacts is the bot's part and the others by chat.
type CoreFacts struct {
	Part
	Chats, People map[string]Part
}

func noFacts() CoreFacts {
	return CoreFacts{Part: Part{User: Facts{}, Agent: Facts{}}, Chats: map[string]Part{}, People: map[string]Part{}}
}

// At is the part of a place, or an empty one.
func (f CoreFacts) At(at Place) Part {
	part := f.Part
	if at.Kind != "" {
		part = f.kind(at.Kind)[at.ID]
	}
	if part.User == nil {
		part.User = Facts{}
	}
	if part.Agent == nil {
		part.Agent = Facts{}
	}
	return part
}

// put stores a part. An empty one is removed from the file.
func (f *CoreFacts) put(at Place, part Part) {
	part.raw = nil
	switch {
	case at.Kind == "":
		f.Part = part
	case len(part.User)+len(part.Agent)+len(part.others) == 0:
		delete(f.kind(at.Kind), at.ID)
	default:
		f.kind(at.Kind)[at.ID] = part
	}
}

func (f CoreFacts) kind(kind string) map[string]Part {
	if kind == KindPeople {
		return f.People
	}
	return f.Chats
}

// sections are the sections of a part with their names, in the order of the file.
func (p Part) sections() []section { return []section{{SectionUser, p.User}, {SectionAgent, p.Agent}} }

type section struct {
	name  string
	facts Facts
}

// section is a section of a part, to be read and changed.
func (p Part) section(name string) (Facts, error) {
	for _, s := range p.sections() {
		if s.name == name {
			return s.facts, nil
		}
	}
	return nil, ErrSection
}

// Holds reports whether a part has a fact.
func (p Part) Holds(section, key string) bool {
	facts, err := p.section(section)
	_, has := facts[key]
	return err == nil && has
}

// Over combines two parts. The nearer one, p, wins about the user, the farther one
// about the agent.
func (p Part) Over(farther Part) Part {
	all := Part{User: maps.Clone(farther.User), Agent: maps.Clone(p.Agent)}
	maps.Copy(all.User, p.User)
	maps.Copy(all.Agent, farther.Agent)
	return all
}

// Screened is the part without the facts that are refused; left names them. A part
// whose facts are refused only together is left out as a whole.
func (p Part) Screened(refused func(text string) bool) (kept Part, left []string) {
	kept = Part{User: Facts{}, Agent: Facts{}}
	for i, s := range p.sections() {
		for _, key := range slices.Sorted(maps.Keys(s.facts)) {
			if refused(factLine(key, s.facts[key])) {
				left = append(left, s.name+"."+key)
				continue
			}
			kept.sections()[i].facts[key] = s.facts[key]
		}
	}
	if text := kept.String(); text != "" && refused(text) {
		return Part{User: Facts{}, Agent: Facts{}}, append(left, "all of it")
	}
	return kept, left
}

// Others are the names of unknown sections and invalid parts in the file.
func (f CoreFacts) Others() []string {
	names := slices.Sorted(maps.Keys(f.others))
	for _, kind := range []string{KindChats, KindPeople} {
		parts := f.kind(kind)
		for _, id := range slices.Sorted(maps.Keys(parts)) {
			name := kind + "." + id
			if parts[id].raw != nil {
				names = append(names, name)
			}
			for _, other := range slices.Sorted(maps.Keys(parts[id].others)) {
				names = append(names, name+"."+other)
			}
		}
	}
	return names
}

// largeError means that a part, or the file, is too large.
type largeError struct {
	name  string
	limit int
}

func (e *largeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.name, e.limit)
}

// fits checks the limits. size is the size of the whole file.
func (f CoreFacts) fits(size int) error {
	if size > maxCoreFile {
		return &largeError{"the core memory", maxCoreFile}
	}
	if f.Part.size() > maxCore {
		return &largeError{"the core memory", maxCore}
	}
	for _, kind := range []string{KindChats, KindPeople} {
		for id, part := range f.kind(kind) {
			if part.size() > maxPart {
				return &largeError{"the core memory of " + id, maxPart}
			}
		}
	}
	return nil
}

// size is the size of a part in a request, in bytes.
func (p Part) size() int { return len(p.String()) }

// errShape means that the JSON is not a core memory.
var errShape = errors.New(`it must be as {"user": {"name": "Anna"}, "agent": {}}`)

// parse reads the text of a file. The error is for the person who wrote it.
func (f *CoreFacts) parse(text []byte) error {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(text, &sections); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("line %d is not valid JSON", 1+bytes.Count(text[:min(int(e.Offset), len(text))], []byte("\n")))
		}
		return errShape
	}
	for _, kind := range []string{KindChats, KindPeople} {
		var parts map[string]json.RawMessage
		if json.Unmarshal(sections[kind], &parts) != nil {
			continue // another use of this name
		}
		delete(sections, kind)
		for id, text := range parts {
			part, err := parsePart(text)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", id, kind, err)
			}
			f.kind(kind)[id] = part
		}
	}
	var err error
	if f.Part, err = partOf(sections); err != nil {
		return err
	}
	return f.fits(len(text))
}

// parsePart reads the part of a chat or a user. An invalid one stays as it is.
func parsePart(text json.RawMessage) (Part, error) {
	var sections map[string]json.RawMessage
	if json.Unmarshal(text, &sections) != nil {
		return Part{raw: text}, nil
	}
	return partOf(sections)
}

func partOf(sections map[string]json.RawMessage) (Part, error) {
	p := Part{User: Facts{}, Agent: Facts{}}
	for _, s := range p.sections() {
		facts := Facts{}
		if text, ok := sections[s.name]; ok && json.Unmarshal(text, &facts) != nil {
			return Part{}, errShape
		}
		maps.Copy(s.facts, facts)
		delete(sections, s.name)
	}
	p.others = sections
	return p, nil
}

// MarshalJSON writes the sections in their order, and unknown ones after them.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	return p.object()
}

// MarshalJSON writes the file.
func (f CoreFacts) MarshalJSON() ([]byte, error) {
	var all []member
	for _, kind := range []string{KindChats, KindPeople} {
		if parts := f.kind(kind); len(parts) > 0 {
			all = append(all, member{kind, parts})
		}
	}
	return f.object(all...)
}

// member is a name and a value of a JSON object.
type member struct {
	name  string
	value any
}

// object is a JSON object of the sections, further members and the unknown sections.
func (p Part) object(further ...member) ([]byte, error) {
	members := append([]member{{SectionUser, p.User}, {SectionAgent, p.Agent}}, further...)
	for _, name := range slices.Sorted(maps.Keys(p.others)) {
		members = append(members, member{name, p.others[name]})
	}
	var b bytes.Buffer
	for i, m := range members {
		key, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON is a part as in the file.
func (p Part) JSON() (string, error) {
	text, err := json.MarshalIndent(p, "", "  ")
	return string(text), err
}

// String is a part as in a prompt: "[user]" and a line "key: value" for each fact.
// Empty sections are left out.
func (p Part) String() string { return p.under("") }

// String is the whole core memory for its owner, the other parts with their names.
func (f CoreFacts) String() string {
	texts := []string{f.Part.String()}
	for _, kind := range []string{KindChats, KindPeople} {
		parts := f.kind(kind)
		for _, id := range slices.Sorted(maps.Keys(parts)) {
			texts = append(texts, parts[id].under(kind+"."+id+"."))
		}
	}
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")
}

func (p Part) under(heading string) string {
	var b strings.Builder
	for _, section := range p.sections() {
		if len(section.facts) == 0 {
			continue
		}
		fmt.Fprintf(&b, "[%s%s]\n", oneLine(heading), section.name)
		for _, key := range slices.Sorted(maps.Keys(section.facts)) {
			b.WriteString(factLine(key, section.facts[key]) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// factLine is a fact in one line: a second one could look like a section.
func factLine(key, value string) string { return oneLine(key) + ": " + oneLine(value) }

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

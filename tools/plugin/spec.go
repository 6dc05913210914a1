package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/params"
	"klawbot/tools/sandbox"
)

// The bounds of a specification.
const (
	specTimeout    = 5 * time.Second
	specBytes      = 64 << 10
	maxDescription = 4000 // characters
	defaultTimeout = 30 * time.Second
)

// printed is what a plugin prints for --spec.
type printed struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Group       tools.Group     `json:"group"`
	// Changes is for people who read it; the owner's word counts.
	Changes *bool `json:"changes"`
	// Timeout is in seconds.
	Timeout int `json:"timeout"`
	// Texts are what models are shown in other languages than English.
	Texts map[string]text `json:"texts"`
}

type text struct {
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// spec asks a plugin for its specification.
func (h *Host) spec(ctx context.Context, f file) (tools.Spec, error) {
	runner := h.config.Runner()
	out, err := runner.Run(ctx, h.command(runner, f, specTimeout, specBytes, "--spec"))
	switch {
	case err != nil:
		return tools.Spec{}, fmt.Errorf("--spec did not start: %s", unstarted(err))
	case out.Stdout.Omitted() > 0:
		return tools.Spec{}, fmt.Errorf("--spec printed more than %d bytes", specBytes)
	case out.TimedOut:
		return tools.Spec{}, fmt.Errorf("--spec printed nothing for %s", specTimeout)
	case out.ExitCode != 0:
		return tools.Spec{}, fmt.Errorf("--spec ended with exit code %d%s", out.ExitCode, complaint(out))
	}
	spec, err := parseSpec(out.Stdout.Head)
	if err != nil {
		return tools.Spec{}, fmt.Errorf("--spec: %w", err)
	}
	return spec, nil
}

// unstarted says why a program did not start, in other words than the system's
// where these mislead: what is not there is not the file itself.
func unstarted(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return "the program that its first line names (#!) is not there"
	case errors.Is(err, syscall.ENOEXEC):
		return "it is no program for this machine, or lacks the first line that says what runs it (#!)"
	}
	return err.Error()
}

// complaint is the last line that a program wrote to its standard error.
func complaint(out sandbox.Outcome) string {
	lines := strings.Split(strings.TrimSpace(out.Stderr.Text()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Sprintf(": %.200s", tools.Visible(last))
	}
	return ""
}

var legalName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// groups are the groups that a plugin can be in.
var groups = []tools.Group{
	tools.GroupRuntime, tools.GroupFiles, tools.GroupNet, tools.GroupBrowser, tools.GroupMemory, tools.GroupSystem, tools.GroupMessage,
}

// parseSpec reads a specification and names the first fault.
func parseSpec(source []byte) (tools.Spec, error) {
	var p printed
	d := json.NewDecoder(bytes.NewReader(source))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return tools.Spec{}, fmt.Errorf("not a specification: %s", oneLine(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return tools.Spec{}, errors.New("something follows the specification")
	}
	group := cmp.Or(p.Group, tools.GroupSystem)
	switch {
	case !legalName.MatchString(p.Name):
		return tools.Spec{}, fmt.Errorf("name %.80q must be a letter and up to 63 of a-z, 0-9 and _", p.Name)
	case !slices.Contains(groups, group):
		return tools.Spec{}, fmt.Errorf("group %.80q does not exist; there are %v", group, groups)
	case p.Timeout < 0 || p.Timeout > int(tools.MaxTimeout/time.Second):
		return tools.Spec{}, fmt.Errorf("timeout must be 1 to %d seconds", tools.MaxTimeout/time.Second)
	}
	spec := tools.Spec{
		Name: p.Name, Group: group, Texts: map[string]tools.Text{},
		Timeout: cmp.Or(time.Duration(p.Timeout)*time.Second, defaultTimeout),
	}
	english := text{p.Description, p.Parameters}
	if err := english.into(&spec, tools.English, json.RawMessage(`{"type":"object","properties":{}}`)); err != nil {
		return tools.Spec{}, err
	}
	for language, t := range p.Texts {
		if err := t.into(&spec, language, spec.Texts[tools.English].Parameters); err != nil {
			return tools.Spec{}, fmt.Errorf("texts.%.20s: %w", language, err)
		}
	}
	return spec, nil
}

// into checks a text and adds it to a specification.
func (t text) into(spec *tools.Spec, language string, otherwise json.RawMessage) error {
	description := strings.TrimSpace(t.Description)
	if n := utf8.RuneCountInString(description); n == 0 || n > maxDescription {
		return fmt.Errorf("description must have 1 to %d characters", maxDescription)
	}
	parameters := t.Parameters
	if len(parameters) == 0 || string(parameters) == "null" {
		parameters = otherwise
	}
	if err := checkParameters(parameters); err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, parameters); err != nil {
		return err
	}
	if _, twice := spec.Texts[language]; twice {
		return errors.New("the English text stands at the top")
	}
	spec.Texts[language] = tools.Text{Description: description, Parameters: compact.Bytes()}
	return nil
}

// checkParameters is what every tool keeps to: an object, whose every property
// has a type and a description, and no references.
func checkParameters(schema json.RawMessage) error {
	if bytes.Contains(schema, []byte(`"$ref"`)) {
		return errors.New(`parameters: "$ref" is not understood by models; write it out`)
	}
	if err := params.Check(schema); err != nil {
		return errors.New(oneLine(err))
	}
	var root struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("parameters: %s", oneLine(err))
	}
	for name, p := range root.Properties {
		if p.Type == nil || strings.TrimSpace(p.Description) == "" {
			return fmt.Errorf("parameters: %.80q needs a type and a description", name)
		}
	}
	return nil
}

// oneLine is an error on one line that is not too long.
func oneLine(err error) string {
	return fmt.Sprintf("%.300s", strings.Join(strings.Fields(tools.Visible(strings.ToValidUTF8(err.Error(), "\uFFFD"))), " "))
}

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/tools"
	"klawbot/tools/mcp/shown"
)

// maxListed bounds a list of resources or prompts.
const maxListed = 200

// method is a part of the protocol that is offered as a tool of the server, under
// the method's name. It is accepted like one.
type method struct {
	Definition
	// has reports whether a server has it.
	has func(*sdk.ServerCapabilities) bool
	run func(ctx context.Context, c tools.Call, s *sdk.ClientSession) (tools.Result, error)
}

// methods are the parts of the protocol for what servers have beside tools.
var methods = []method{
	{
		Definition{"resources/list", "List the resources of the server: texts and files that can be read with resources/read, by their URIs.", json.RawMessage(`{"type":"object","properties":{}}`)},
		hasResources, listResources,
	},
	{
		Definition{"resources/read", "Read one resource of the server. Its URI comes from resources/list, or from a result.", json.RawMessage(
			`{"type":"object","properties":{"uri":{"type":"string","description":"the URI of the resource"}},"required":["uri"]}`)},
		hasResources, readResource,
	},
	{
		Definition{"prompts/list", "List the prompts of the server: texts that it has ready for tasks, with what they want to know.", json.RawMessage(`{"type":"object","properties":{}}`)},
		hasPrompts, listPrompts,
	},
	{
		Definition{"prompts/get", "Get one prompt of the server. Its name and its arguments come from prompts/list.", json.RawMessage(
			`{"type":"object","properties":{"name":{"type":"string","description":"the name of the prompt"},"arguments":{"type":"object","description":"what the prompt wants to know, by name","additionalProperties":{"type":"string"}}},"required":["name"]}`)},
		hasPrompts, getPrompt,
	},
}

func hasResources(c *sdk.ServerCapabilities) bool { return c.Resources != nil }

func hasPrompts(c *sdk.ServerCapabilities) bool { return c.Prompts != nil }

// addMethods adds the methods of a server to its tools, which win over them by name.
func (c *conn) addMethods(all map[string]Definition) {
	can := c.session.InitializeResult().Capabilities
	for _, m := range methods {
		if _, taken := all[m.Tool]; can != nil && m.has(can) && !taken {
			all[m.Tool] = m.Definition
		}
	}
}

// methodOf returns the method that an accepted tool is, nil for the server's own.
func methodOf(a Accepted) *method {
	for i, m := range methods {
		if m.Tool == a.Tool && m.Hash() == a.Hash {
			return &methods[i]
		}
	}
	return nil
}

// list is a list of things, a line for each.
type list struct {
	lines []string
	left  int // how many are left out
}

func (l *list) add(format string, args ...any) {
	if len(l.lines) == maxListed {
		l.left++
		return
	}
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// result is the list for a model; what says of which things.
func (l *list) result(what string) tools.Result {
	if len(l.lines) == 0 {
		return tools.OK("The server has no " + what + ".")
	}
	if l.left > 0 {
		l.lines = append(l.lines, fmt.Sprintf("… and %d more", l.left))
	}
	return tools.OK(strings.Join(l.lines, "\n"))
}

// described is a text behind a name, "" for none.
func described(text string) string {
	if text = shown.Line(text, shown.MaxPart); text == "" {
		return ""
	}
	return ": " + text
}

func listResources(ctx context.Context, _ tools.Call, s *sdk.ClientSession) (tools.Result, error) {
	var l list
	for r, err := range s.Resources(ctx, nil) {
		if err != nil {
			return tools.Result{}, err
		}
		l.add("- %s %s%s", shown.Text(r.URI, shown.MaxPart), shown.Line(r.Name, shown.MaxPart), described(r.Description))
	}
	for r, err := range s.ResourceTemplates(ctx, nil) {
		if err != nil {
			if methodNotFound(err) {
				break
			}
			return tools.Result{}, err
		}
		l.add("- %s %s%s", shown.Text(r.URITemplate, shown.MaxPart), shown.Line(r.Name, shown.MaxPart), described(r.Description))
	}
	return l.result("resources"), nil
}

func readResource(ctx context.Context, c tools.Call, s *sdk.ClientSession) (tools.Result, error) {
	var a struct{ URI string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tools.Fail(tools.Validation, err.Error()), nil
	}
	answer, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: a.URI})
	if err != nil {
		return tools.Result{}, err
	}
	w := writer{call: c}
	for _, r := range answer.Contents {
		w.resource(r)
	}
	if len(w.texts) == 0 {
		w.say("(it is empty)")
	}
	r := tools.OK(strings.Join(w.texts, "\n\n"))
	r.Artifacts = w.files
	return r, nil
}

func listPrompts(ctx context.Context, _ tools.Call, s *sdk.ClientSession) (tools.Result, error) {
	var l list
	for p, err := range s.Prompts(ctx, nil) {
		if err != nil {
			return tools.Result{}, err
		}
		var wants []string
		for _, a := range p.Arguments {
			name := shown.Line(a.Name, 40)
			if !a.Required {
				name += "?"
			}
			wants = append(wants, name)
		}
		l.add("- %s(%s)%s", shown.Line(p.Name, shown.MaxPart), strings.Join(wants, ", "), described(p.Description))
	}
	return l.result("prompts"), nil
}

func getPrompt(ctx context.Context, c tools.Call, s *sdk.ClientSession) (tools.Result, error) {
	var a struct {
		Name      string
		Arguments map[string]string
	}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tools.Fail(tools.Validation, err.Error()), nil
	}
	answer, err := s.GetPrompt(ctx, &sdk.GetPromptParams{Name: a.Name, Arguments: a.Arguments})
	if err != nil {
		return tools.Result{}, err
	}
	w := writer{call: c}
	for _, m := range answer.Messages {
		w.say("[%s]", m.Role)
		w.add(m.Content)
	}
	r := tools.OK(strings.Join(w.texts, "\n"))
	r.Artifacts = w.files
	return r, nil
}

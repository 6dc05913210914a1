package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/tools"
)

// The answers to a server that asks something.
const (
	accepted = "accept"
	declined = "decline"
)

// questionBinds keeps the answer to a server's question from being one to a
// call of its tool.
const questionBinds = "question of the server"

// elicit answers a server that asks the person something in the middle of a
// call. What can be answered with yes or no is asked, in the chat that the call
// comes from; everything else is declined.
func (s *server) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	no := &sdk.ElicitResult{Action: declined}
	content, ok := yes(r.Params)
	c := s.asker()
	if !ok || c == nil || c.Approver == nil {
		s.host.log.Info("question of an MCP server declined", "server", s.name, "call", c != nil, "answerable", ok)
		return no, nil
	}
	question := map[string]any{"the_server_asks": shown(r.Params.Message, maxAboutChars)}
	if len(content) > 0 {
		question["yes_tells_it"] = content
	}
	arguments, err := json.Marshal(question)
	if err != nil {
		return no, err
	}
	asked := c.Call
	asked.ID, asked.Arguments = fmt.Sprintf("%s/question/%d", c.ID, s.count(c)), arguments
	defer c.clock.stop()()
	answer, err := c.Approver.Approve(ctx, tools.Question{Call: asked, Binds: questionBinds})
	if err != nil || !answer.Granted {
		return no, err
	}
	return &sdk.ElicitResult{Action: accepted, Content: content}, nil
}

// count numbers the questions of a call.
func (s *server) count(c *call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.asked++
	return c.asked
}

// yes is what a yes to a question tells the server; ok is false for a question
// that no yes answers. Defaults stand as they are, and of a single thing that
// has none and is required, a yes can only be true.
func yes(p *sdk.ElicitParams) (content map[string]any, ok bool) {
	if p.URL != "" {
		return nil, false
	}
	var form struct {
		Properties map[string]struct {
			Type    string `json:"type"`
			Default any    `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	text, err := json.Marshal(p.RequestedSchema)
	if err != nil || json.Unmarshal(text, &form) != nil {
		return nil, false
	}
	content = map[string]any{}
	for name, field := range form.Properties {
		if field.Default != nil {
			content[name] = field.Default
		}
	}
	for _, name := range form.Required {
		if content[name] != nil {
			continue
		}
		if form.Properties[name].Type != "boolean" || len(form.Required) > 1 {
			return nil, false
		}
		content[name] = true
	}
	if len(form.Properties) == 1 && len(content) == 0 {
		for name, field := range form.Properties {
			if field.Type == "boolean" {
				content[name] = true
			}
		}
	}
	return content, true
}

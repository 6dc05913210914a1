package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/internal/wait"
	"klawbot/tools"
	"klawbot/tools/mcp/schema"
	"klawbot/tools/mcp/shown"
)

// askTime is how much longer a call may take when people are asked for it.
const askTime = time.Hour

type tool struct {
	host *Host
	Accepted
	spec tools.Spec
}

// Tools are the accepted tools of the configured servers, by name. A tool that
// the server describes in another way now is not among them.
func (h *Host) Tools() []tools.Tool {
	configured := h.config.Servers()
	var all []tools.Tool
	for _, a := range h.known() {
		c, ok := configured[a.Server]
		if !ok {
			continue
		}
		if s := h.running(a.Server); s != nil && s.verdict(a) != Usable {
			continue
		}
		all = append(all, &tool{h, a, specOf(a, c)})
	}
	return all
}

// Faults are the accepted tools that are off because their server changed them.
func (h *Host) Faults() []tools.Fault {
	var all []tools.Fault
	for _, a := range h.known() {
		if s := h.running(a.Server); s != nil && s.verdict(a) == Changed {
			all = append(all, tools.Fault{Name: a.Name, Reason: fmt.Sprintf("the MCP server %s describes it in another way than was accepted; look at it with klawbot mcp approve %s", a.Server, a.Server)})
		}
	}
	return all
}

// specOf describes a tool to the pipeline. Only the owner says that it changes nothing.
func specOf(a Accepted, c Server) tools.Spec {
	reads := slices.Contains(c.ReadOnly, a.Tool)
	return tools.Spec{
		Name: a.Name, Group: tools.GroupNet, Server: tools.Server{Name: a.Server, Always: c.Always}, Changes: !reads, RequiresApproval: !reads, Outside: true,
		Timeout: c.timeout() + askTime,
		Permit: func(tools.Call, tools.Autonomy) tools.Decision {
			return tools.Decision{Verdict: tools.Allow, Layer: "tools.mcp." + a.Server, Reason: "The owner has accepted it", Binds: a.Hash}
		},
		Texts: map[string]tools.Text{tools.English: {
			Description: fmt.Sprintf("(Tool %s of the MCP server %s.) %s", shown.Text(a.Tool, shown.MaxPart), shown.Text(a.Server, shown.MaxPart), shown.Text(a.Description, shown.MaxAbout)),
			Parameters:  schema.Clean(a.Schema),
		}},
	}
}

// Spec describes the tool as it was accepted.
func (t *tool) Spec() tools.Spec { return t.spec }

// Run calls the tool, twice if the connection breaks and the call changes nothing.
func (t *tool) Run(ctx context.Context, c tools.Call) tools.Result {
	s, err := t.host.server(t.Server)
	if err != nil {
		return tools.Fail(tools.Execution, fmt.Sprintf("MCP server %s: %v", t.Server, err))
	}
	timeout := t.spec.Timeout - askTime
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running := &call{Call: c, clock: wait.NewClock(timeout, cancel)}
	defer s.begin(running)()
	r, err := t.try(ctx, s, c)
	if err != nil && !t.spec.Changes && ctx.Err() == nil && broken(err) {
		r, err = t.try(ctx, s, c)
	}
	late := running.clock.End()
	switch {
	case err == nil:
		return r
	case late && !errors.As(err, new(downError)):
		return tools.Fail(tools.Timeout, fmt.Sprintf("%s did not finish within %s", t.Name, timeout))
	}
	return t.fail(err)
}

// try makes the call once.
func (t *tool) try(ctx context.Context, s *server, c tools.Call) (tools.Result, error) {
	conn, err := s.session(ctx, true)
	if err != nil {
		return tools.Result{}, err
	}
	if standing := s.verdict(t.Accepted); standing != Usable {
		return tools.Fail(tools.Security, fmt.Sprintf("%s is off: %s", t.Name, standing.why())), nil
	}
	r, err := t.ask(ctx, c, conn.session)
	if err != nil && broken(err) && ctx.Err() == nil {
		conn.end(err)
	}
	return r, err
}

func (t *tool) ask(ctx context.Context, c tools.Call, s *sdk.ClientSession) (tools.Result, error) {
	if m := methodOf(t.Accepted); m != nil {
		return m.run(ctx, c, s)
	}
	p := &sdk.CallToolParams{Name: t.Tool, Arguments: json.RawMessage(c.Arguments)}
	answer, err := s.CallTool(ctx, p)
	if pages := wanted(err); len(pages) > 0 && t.opened(ctx, pages) {
		answer, err = s.CallTool(ctx, p) // the first time, nothing was done
	}
	if err != nil {
		return tools.Result{}, err
	}
	return result(c, answer), nil
}

// broken reports whether an error is the connection's, not the server's answer.
func broken(err error) bool {
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing) {
		return true
	}
	return !errors.As(err, new(*jsonrpc.Error)) && !errors.As(err, new(downError))
}

// fail is the result of a call that got no answer.
func (t *tool) fail(err error) tools.Result {
	text := fmt.Sprintf("MCP server %s: %v", t.Server, plain(err))
	if broken(err) {
		t.host.log.Warn("call of a tool of an MCP server failed", "server", t.Server, "tool", t.Name, "err", err)
		text += "; it is connected to again"
		if t.spec.Changes {
			text += ". It is unknown whether the call took effect: look before you repeat it"
		}
	}
	return tools.Fail(tools.Execution, shown.Text(text, shown.MaxAbout))
}

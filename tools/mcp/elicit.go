package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/tools"
	"klawbot/tools/mcp/form"
	"klawbot/tools/mcp/shown"
)

// The answers to a server that asks something.
const (
	accepted  = "accept"
	declined  = "decline"
	cancelled = "cancel"
)

// elicit asks the person of a call what the server wants to know, one field after the
// other. The answers go to that server and nowhere else.
func (s *server) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	i := s.interview(r.Params, cancel)
	if i == nil {
		s.host.log.Info("question of an MCP server declined", "server", s.name, "reason", "nobody to ask")
		return &sdk.ElicitResult{Action: declined}, nil
	}
	defer s.leave(i)
	defer i.call.clock.Stop()()
	answer, err := i.hold(ctx, r.Params)
	if err != nil {
		return nil, err
	}
	s.host.log.Info("question of an MCP server", "server", s.name, "call", i.call.ID, "action", answer.Action)
	return answer, nil
}

// interview is one question of a server to one person.
type interview struct {
	server *server
	call   *call
	asker  tools.Asker
	text   string        // what the server says
	end    func()        // ends it before the person has answered
	over   chan struct{} // closed when it has ended
}

// interview begins the interview with the person for whose sake the server asks.
// It returns nil when there is none.
func (s *server) interview(p *sdk.ElicitParams, end func()) *interview {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.asker()
	if c == nil {
		return nil
	}
	asker, ok := c.Approver.(tools.Asker)
	if !ok {
		return nil
	}
	i := &interview{s, c, asker, shown.Text(p.Message, shown.MaxAbout), end, make(chan struct{})}
	s.interviews[i] = true
	return i
}

func (s *server) leave(i *interview) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.interviews, i)
	close(i.over)
}

func (s *server) count(c *call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.asked++
	return c.asked
}

func (i *interview) hold(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if p.URL != "" {
		return i.page(ctx, p.URL)
	}
	f, err := form.Read(p.RequestedSchema)
	if err != nil {
		i.server.host.log.Warn("question of an MCP server not understood", "server", i.server.name, "err", err)
		return &sdk.ElicitResult{Action: declined}, nil
	}
	if secret := f.Secret(); secret != "" {
		i.asker.Refuse(ctx, i.call.Call, i.server.name, secret)
		return &sdk.ElicitResult{Action: declined}, nil
	}
	content, outcome, err := f.Ask(ctx, i.ask)
	if err != nil || outcome != tools.Answered {
		return unanswered(outcome), err
	}
	return &sdk.ElicitResult{Action: accepted, Content: content}, nil
}

func (i *interview) ask(ctx context.Context, q tools.Question) (tools.Reply, error) {
	q.Call, q.From, q.Text = i.call.Call, i.server.name, i.text
	q.Call.ID = fmt.Sprintf("%s/question/%d", i.call.ID, i.server.count(i.call))
	return i.asker.Ask(ctx, q)
}

// unanswered is what the server gets when the person does not answer.
func unanswered(outcome tools.Outcome) *sdk.ElicitResult {
	if outcome == tools.Declined {
		return &sdk.ElicitResult{Action: declined}
	}
	return &sdk.ElicitResult{Action: cancelled}
}

// page has an owner open a page, after a look at where it is.
func (i *interview) page(ctx context.Context, page string) (*sdk.ElicitResult, error) {
	if err := openable(page); err != nil {
		i.server.host.log.Warn("page of an MCP server declined", "server", i.server.name, "reason", err.Error())
		return &sdk.ElicitResult{Action: declined}, nil
	}
	r, err := i.ask(ctx, tools.Question{Page: page, Options: []tools.Option{{Word: tools.WordOpened}}, Usual: -1})
	if err != nil || r.Outcome != tools.Answered {
		return unanswered(r.Outcome), err
	}
	return &sdk.ElicitResult{Action: accepted}, nil
}

// maxPages is how many pages a server may want opened for one call.
const maxPages = 3

// wanted are the pages that must be opened before a server does what it was asked,
// by its error; nil for another error.
func wanted(err error) []*sdk.ElicitParams {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || said.Code != sdk.CodeURLElicitationRequired {
		return nil
	}
	var data struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(said.Data, &data) != nil || len(data.Elicitations) > maxPages {
		return nil
	}
	if slices.ContainsFunc(data.Elicitations, func(p *sdk.ElicitParams) bool { return p == nil || p.URL == "" }) {
		return nil
	}
	return data.Elicitations
}

func (t *tool) opened(ctx context.Context, pages []*sdk.ElicitParams) bool {
	s := t.host.running(t.Server)
	for _, p := range pages {
		if s == nil {
			return false
		}
		if r, err := s.elicit(ctx, &sdk.ElicitRequest{Params: p}); err != nil || r.Action != accepted {
			return false
		}
	}
	return true
}

// pageError says why a person is not sent to a page.
type pageError string

func (e pageError) Error() string { return string(e) }

// maxPage bounds the address of a page, which must fit into a message.
const maxPage = 2000

// openable says why a person may not be sent to a page. Its address must be readable,
// encrypted or on this machine, and without a user name, which looks like a host.
func openable(page string) error {
	u, err := url.Parse(page)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return pageError("it isn't a web address")
	case len(page) > maxPage || strings.ContainsFunc(page, func(r rune) bool { return r <= ' ' || r > '~' }):
		return pageError("its address is too long or has characters that do not belong there")
	case u.User != nil:
		return pageError("its address holds the name of a user")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return pageError("it is not encrypted (https)")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

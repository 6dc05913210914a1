package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"klawbot/internal/wait"
	"klawbot/tools/mcp/signin"
)

// Client is a client of OAuth that was registered by hand.
type Client = signin.Client

// Redirect is the usual address that a page to sign in at leads to in the end.
const Redirect = "http://127.0.0.1:8765/callback"

// SignIn lets a person sign in at a server. The zero value cannot.
type SignIn struct {
	// Redirect is the address that the page leads to in the end.
	Redirect string
	// Visit shows a person the page and returns the address that it led to.
	Visit func(ctx context.Context, server, page string) (led string, err error)
}

func (s *server) door(ctx context.Context, home *url.URL, patience *wait.Clock) (auth.OAuthHandler, error) {
	d := signin.Door{Server: s.name, Client: s.config.Client, Tokens: s.host.config.Approvals, Living: s.living, Redirect: s.signIn.Redirect, Wanted: s.wantSignIn}
	if s.signIn.Visit != nil {
		d.Visit = func(ctx context.Context, page string) (string, error) {
			defer patience.Stop()() // the time of people is not the server's
			if err := openable(page); err != nil {
				return "", fmt.Errorf("the page to sign in at is not shown: %w", err)
			}
			return s.signIn.Visit(ctx, s.name, page)
		}
	}
	return d.Handler(ctx, home)
}

// SignIn lets a person sign in at a server over HTTP, and has it connected to with
// what came of it. It returns when that is done.
func (h *Host) SignIn(ctx context.Context, name string, at SignIn) error {
	s, err := h.server(name)
	switch {
	case err != nil:
		return err
	case !s.config.SignsIn():
		return errors.New("this server has no sign-in: it is a program, or has a key of its own")
	}
	guest := newServer(h, name, s.config)
	defer guest.stop()
	guest.signIn = at
	c, err := guest.dial(ctx, s.config.ProtocolVersion, s.host.startTime())
	if err != nil {
		return err
	}
	c.close()
	wait.Signal(s.again)
	return nil
}

// SignsIn reports whether a person can sign in at the server.
func (s Server) SignsIn() bool {
	return s.URL != "" && s.Headers["Authorization"] == "" && !s.Client.Machine
}

// wantSignIn tells, once for each time that the server is down, that it wants a sign-in.
func (s *server) wantSignIn() {
	s.mu.Lock()
	told := s.told
	s.told = true
	s.mu.Unlock()
	if !told && s.host.config.SignInWanted != nil {
		s.host.config.SignInWanted(s.name)
	}
}

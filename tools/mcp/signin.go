package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"klawbot/internal/httpclient"
)

// SignIn lets a person sign in at a server. The zero value cannot.
type SignIn struct {
	// Redirect is the address that the page leads to in the end.
	Redirect string
	// Visit shows a person the page and returns the address that it led to.
	Visit func(ctx context.Context, server, page string) (led string, err error)
}

// door opens a server that wants a person to sign in: with the token of an
// earlier time, or by asking somebody where that is possible.
func (s *server) door(ctx context.Context, home *url.URL) (auth.OAuthHandler, error) {
	k := &key{s: s, client: visitor(home)}
	saved, err := s.host.config.Ledger.Token(ctx, s.name)
	if err != nil {
		return nil, fmt.Errorf("read the token of the MCP server: %w", err)
	}
	if saved != nil {
		if err := json.Unmarshal(saved, &k.grant); err != nil {
			return nil, fmt.Errorf("read the token of the MCP server: %w", err)
		}
	}
	at := s.host.config.SignIn
	if at.Visit == nil {
		return k, nil
	}
	var source oauth2.TokenSource
	if saved != nil {
		source = k.source()
	}
	return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: at.Redirect,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "klawbot", RedirectURIs: []string{at.Redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		RequestRefreshToken: true, InitialTokenSource: source, Client: k.client,
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return s.visit(ctx, a.URL)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			k.renew(grant{*c, t})
			return k.source(), k.save(t)
		},
	})
}

// visitor is the client for the pages around signing in. Their addresses come
// from the server: only the public internet, and the server's own host, which
// the owner named.
func visitor(home *url.URL) *http.Client {
	hosts, _ := httpclient.ParseHosts([]string{home.Hostname()})
	return httpclient.New(httpclient.Options{Guard: &httpclient.Guard{Hosts: func() httpclient.Hosts { return hosts }}})
}

// visit lets a person sign in at a page.
func (s *server) visit(ctx context.Context, page string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the page to sign in at is no web address")
	}
	led, err := s.host.config.SignIn.Visit(ctx, s.name, u.String())
	if err != nil {
		return nil, err
	}
	back, err := url.Parse(led)
	if err != nil {
		return nil, errors.New("what the page led to is no address")
	}
	q := back.Query()
	if q.Get("error") != "" {
		return nil, fmt.Errorf("the server refused: %s %s", shown(q.Get("error"), 100), shown(q.Get("error_description"), maxPartChars))
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// grant is what lets us in: our registration and the token. It is what is kept.
type grant struct {
	Config oauth2.Config `json:"config"`
	Token  *oauth2.Token `json:"token"`
}

// key is the token of one connection. Whenever it is renewed it is kept.
type key struct {
	s      *server
	client *http.Client
	grant  grant

	mu    sync.Mutex
	inner oauth2.TokenSource // guarded by mu
	last  string             // guarded by mu; the access token that is kept
}

var _ auth.OAuthHandler = (*key)(nil)

// TokenSource returns the source of tokens, nil when there is none.
func (k *key) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if k.grant.Token == nil {
		return nil, nil
	}
	return k.source(), nil
}

// Authorize is called when the server refused, and nobody can be asked.
func (k *key) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close() // nothing is read of it
	return fmt.Errorf("it wants somebody to sign in: klawbot mcp approve %s", k.s.name)
}

// renew takes what a person has just signed in for in place of what there was.
func (k *key) renew(g grant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.grant, k.inner = g, nil
}

// source renews the token when it is over.
func (k *key) source() oauth2.TokenSource {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.inner == nil {
		// Renewals happen as long as the connection lives.
		ctx := context.WithValue(k.s.living, oauth2.HTTPClient, k.client)
		k.inner, k.last = k.grant.Config.TokenSource(ctx, k.grant.Token), k.grant.Token.AccessToken
	}
	return k
}

// Token returns a token that is not over.
func (k *key) Token() (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.inner.Token()
	if err != nil {
		return nil, fmt.Errorf("the token of MCP server %s cannot be renewed; sign in with klawbot mcp approve %s: %w", k.s.name, k.s.name, err)
	}
	if t.AccessToken != k.last {
		k.last = t.AccessToken
		return t, k.save(t)
	}
	return t, nil
}

// save keeps the token.
func (k *key) save(t *oauth2.Token) error {
	text, err := json.Marshal(grant{k.grant.Config, t})
	if err != nil {
		return err
	}
	if err := k.s.host.config.Ledger.SetToken(k.s.living, k.s.name, text); err != nil {
		return fmt.Errorf("keep the token of the MCP server: %w", err)
	}
	return nil
}

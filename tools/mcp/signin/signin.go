// Package signin signs in at MCP servers over HTTP (OAuth): as
// a machine, with the token of an earlier time, or by a page that a person opens.
package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"klawbot/internal/httpclient"
	"klawbot/tools/mcp/shown"
)

// Client is a client of OAuth that was registered by hand.
type Client struct {
	// ID may be the address of a document about the client on the web (https), for
	// servers that read such documents; with others the bot registers itself then.
	ID string
	// Secret is empty for a public client.
	Secret string
	// Issuer is the authorization server that knows the client, the only one that
	// is shown the secret; empty: the one that the server names.
	Issuer string
	// Machine says that the client signs in as itself, without a person (the
	// grant type client_credentials). It needs a Secret.
	Machine bool
}

// Tokens keeps what lets us in at servers.
type Tokens interface {
	// Token returns what SetToken stored for a server, nil for nothing.
	Token(ctx context.Context, server string) ([]byte, error)
	// SetToken stores what lets us in at a server.
	SetToken(ctx context.Context, server string, token []byte) error
}

// Door is a server that may want a sign-in. Only Redirect and Visit may be empty.
type Door struct {
	Server string
	Client Client
	Tokens Tokens
	// Living ends with the connection; tokens are renewed as long.
	Living context.Context
	// Redirect is the address that a page to sign in at leads to in the end.
	Redirect string
	// Visit shows a person the page and returns where it led to; nil: no one is there to ask.
	Visit func(ctx context.Context, page string) (led string, err error)
	// Wanted is called when a sign-in is needed and no one is there to ask.
	Wanted func()
}

// Handler answers for the door when the server, which is at home, refuses a request.
func (d Door) Handler(ctx context.Context, home *url.URL) (auth.OAuthHandler, error) {
	k := &key{door: d, client: visitor(home)}
	if d.Client.Machine {
		return d.newMachine(k.client)
	}
	saved, err := d.kept(ctx)
	if err != nil {
		return nil, err
	}
	var source oauth2.TokenSource
	if saved != nil {
		k.grant = *saved
		source = k.source()
	}
	if d.Visit == nil {
		return k, nil
	}
	// Who did not sign in is not asked again for the next request of the same
	// connection, such as with an older protocol.
	var asking sync.Mutex
	var refused error // guarded by asking
	return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: d.Redirect, PreregisteredClient: d.Client.credentials(), ClientIDMetadataDocumentConfig: d.Client.document(),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "klawbot", RedirectURIs: []string{d.Redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		RequestRefreshToken: true, InitialTokenSource: source, Client: k.client,
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			asking.Lock()
			defer asking.Unlock()
			if refused != nil {
				return nil, refused
			}
			led, err := d.visit(ctx, a.URL)
			refused = err
			return led, err
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			k.renew(grant{*c, t})
			return k.source(), k.save(t)
		},
	})
}

// kept is the grant of an earlier time, nil for none. One that another client
// than the configured one was given is none.
func (d Door) kept(ctx context.Context) (*grant, error) {
	text, err := d.Tokens.Token(ctx, d.Server)
	if err != nil || text == nil {
		return nil, wrap("read the token of the MCP server", err)
	}
	var g grant
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, wrap("read the token of the MCP server", err)
	}
	if c := d.Client; c.ID != "" && !c.published() {
		if g.Config.ClientID != c.ID {
			return nil, nil
		}
		g.Config.ClientSecret = c.Secret
	}
	return &g, nil
}

// wrap says what was being done when an error came up; nil stays nil.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// published says that the id is the address of a document about the client.
func (c Client) published() bool { return strings.HasPrefix(c.ID, "https://") }

// document is that document as the SDK wants it, nil for none.
func (c Client) document() *auth.ClientIDMetadataDocumentConfig {
	if !c.published() {
		return nil
	}
	return &auth.ClientIDMetadataDocumentConfig{URL: c.ID}
}

// credentials are the client as the SDK wants it, nil for none.
func (c Client) credentials() *oauthex.ClientCredentials {
	if c.ID == "" || c.published() {
		return nil
	}
	all := &oauthex.ClientCredentials{ClientID: c.ID, Issuer: c.Issuer}
	if c.Secret != "" {
		all.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: c.Secret}
	}
	return all
}

// machine signs in as itself. Its token is kept for the connection only.
type machine struct {
	// living is for renewing the token, which outlives the request that got it.
	living context.Context
	mu     sync.Mutex
	inner  *extauth.ClientCredentialsHandler // guarded by mu
}

var _ auth.OAuthHandler = (*machine)(nil)

func (d Door) newMachine(client *http.Client) (*machine, error) {
	inner, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: d.Client.credentials(), HTTPClient: client})
	return &machine{living: d.Living, inner: inner}, err
}

// TokenSource returns the source of tokens, nil when there is none yet.
func (m *machine) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inner.TokenSource(ctx)
}

// Authorize signs in after the server refused.
func (m *machine) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	lasting, cancel := context.WithCancel(m.living)
	stop := context.AfterFunc(ctx, cancel)
	err := m.inner.Authorize(lasting, r, resp)
	if stop(); err != nil {
		cancel()
	}
	return err
}

// visitor is the client for the pages around signing in, whose addresses come from the
// server: only the public internet, and the server's own host.
func visitor(home *url.URL) *http.Client {
	hosts, _ := httpclient.ParseHosts([]string{home.Hostname()})
	return httpclient.New(httpclient.Options{Guard: &httpclient.Guard{Hosts: func() httpclient.Hosts { return hosts }}})
}

func (d Door) visit(ctx context.Context, page string) (*auth.AuthorizationResult, error) {
	led, err := d.Visit(ctx, page)
	if err != nil {
		return nil, err
	}
	back, err := url.Parse(led)
	if err != nil {
		return nil, errors.New("the page did not lead to an address")
	}
	q := back.Query()
	if q.Get("error") != "" {
		return nil, fmt.Errorf("the server refused: %s %s", shown.Text(q.Get("error"), 100), shown.Text(q.Get("error_description"), shown.MaxPart))
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
	door   Door
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

// Authorize is called when the server refused and no one is there to ask.
func (k *key) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close() // nothing is read of it
	k.door.Wanted()
	return fmt.Errorf("it needs a sign-in: klawbot mcp approve %s, or /mcp signin %s in the chat", k.door.Server, k.door.Server)
}

// renew takes what a person has just signed in for in place of what there was.
func (k *key) renew(g grant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.grant, k.inner = g, nil
}

func (k *key) source() oauth2.TokenSource {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.inner == nil {
		// Renewals happen as long as the connection lives.
		ctx := context.WithValue(k.door.Living, oauth2.HTTPClient, k.client)
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
		k.door.Wanted()
		return nil, fmt.Errorf("the token of MCP server %s cannot be renewed; sign in with klawbot mcp approve %s: %w", k.door.Server, k.door.Server, err)
	}
	if t.AccessToken != k.last {
		k.last = t.AccessToken
		return t, k.save(t)
	}
	return t, nil
}

func (k *key) save(t *oauth2.Token) error {
	g := grant{k.grant.Config, t}
	if k.door.Client.Secret != "" {
		g.Config.ClientSecret = "" // it is where the owner keeps it
	}
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := k.door.Tokens.SetToken(k.door.Living, k.door.Server, text); err != nil {
		return fmt.Errorf("keep the token of the MCP server: %w", err)
	}
	return nil
}

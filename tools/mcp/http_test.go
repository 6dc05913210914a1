package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/internal/httpclient"
	"klawbot/tools"
	"klawbot/tools/mcp"
)

// web is the test server behind HTTP.
func web() http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newTestServer() }, nil)
}

// serveHTTP serves a handler until the test ends.
func serveHTTP(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestServerOverHTTP(t *testing.T) {
	var mu sync.Mutex
	keys := map[string]bool{}
	inner := web()
	address := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys[r.Header.Get("X-Key")] = true
		mu.Unlock()
		inner.ServeHTTP(w, r)
	}))
	h := newHouse(t, map[string]mcp.Server{"test": {URL: address, Headers: map[string]string{"X-Key": "k"}}})
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.Output != "you said: x" {
		t.Errorf("%+v", r)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(keys) != 1 || !keys["k"] {
		t.Errorf("requests had the keys %v", keys)
	}
}

func TestRedirectsStayAtTheOrigin(t *testing.T) {
	strayed := make(chan string, 10)
	other := serveHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { strayed <- r.Header.Get("X-Key") }))
	mux := http.NewServeMux()
	mux.Handle("/mcp", web())
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	address, key := serveHTTP(t, mux), map[string]string{"X-Key": "k"}
	h := newHouse(t, map[string]mcp.Server{"moved": {URL: address + "/moved", Headers: key}, "away": {URL: address + "/away", Headers: key}})
	h.accept("moved")
	if r := h.call("mcp_moved_echo", `{"text":"x"}`, tools.Always{}); !r.Success {
		t.Errorf("%+v", r)
	}
	if err := h.host.Connect(t.Context(), "away"); err == nil || !strings.Contains(err.Error(), "redirects to another address") {
		t.Errorf("%v", err)
	}
	select {
	case k := <-strayed:
		t.Errorf("a request went elsewhere with the key %q", k)
	default:
	}
}

// TestSessionThatIsLost: the server has forgotten the session. A tool that only
// reads is called again, another one is not.
func TestSessionThatIsLost(t *testing.T) {
	var mu sync.Mutex
	inner := web()
	address := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := inner
		mu.Unlock()
		now.ServeHTTP(w, r)
	}))
	forget := func() {
		mu.Lock()
		defer mu.Unlock()
		inner = web()
	}
	h := newHouse(t, map[string]mcp.Server{"test": {URL: address, ProtocolVersion: "2025-06-18", ReadOnly: []string{"weather"}}})
	h.accept("test")
	forget()
	if r := h.call("mcp_test_weather", "{}", nil); !r.Success {
		t.Errorf("%+v", r)
	}
	forget()
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.Success || !strings.Contains(r.Error, "look before you repeat it") {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); !r.Success {
		t.Errorf("%+v", r)
	}
}

// gatekeeper refuses everyone who has not signed in. Its tokens are over at once,
// so that each use renews them.
type gatekeeper struct {
	mu      sync.Mutex
	tokens  int // how many were handed out
	signed  int // how often somebody signed in
	address string
	// client and secret are of the one client that is known here; empty: clients
	// register themselves.
	client, secret string
}

func (g *gatekeeper) handler() http.Handler {
	mux, inner := http.NewServeMux(), web()
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer token-") {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.address+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"resource": g.address + "/mcp", "authorization_servers": []string{g.address}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		about := map[string]any{
			"issuer": g.address, "authorization_endpoint": g.address + "/authorize", "token_endpoint": g.address + "/token",
			"registration_endpoint": g.address + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		}
		if g.client != "" {
			delete(about, "registration_endpoint")
			about["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
		}
		answer(w, about)
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"], asked["token_endpoint_auth_method"] = "us", "none"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(asked)
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=c&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if id, secret, _ := r.BasicAuth(); g.client != "" && (id != g.client || secret != g.secret) {
			w.WriteHeader(http.StatusUnauthorized)
			answer(w, map[string]string{"error": "invalid_client"})
			return
		}
		if r.FormValue("grant_type") == "authorization_code" {
			g.signed++
		}
		g.tokens++
		answer(w, map[string]any{"access_token": fmt.Sprintf("token-%d", g.tokens), "token_type": "Bearer", "expires_in": 1, "refresh_token": "r"})
	})
	return mux
}

// browse is a person whose browser is led on at once.
func browse(ctx context.Context, _, page string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", err
	}
	resp, err := httpclient.New(httpclient.Options{}).Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location"), nil
}

func TestSigningIn(t *testing.T) {
	g := &gatekeeper{}
	g.address = serveHTTP(t, g.handler())
	servers := map[string]mcp.Server{"test": {URL: g.address + "/mcp"}}
	h := newHouse(t, servers)
	if err := h.host.Connect(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "klawbot mcp approve test") {
		t.Errorf("without anybody to sign in: %v", err)
	}
	h.signIn = mcp.SignIn{Redirect: "http://127.0.0.1:1/callback", Visit: browse}
	h.open()
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); !r.Success || g.signed != 1 {
		t.Errorf("%+v, signed in %d times", r, g.signed)
	}

	// The token is kept: the bot needs nobody, and what it renews it keeps too.
	h.signIn = mcp.SignIn{}
	before := string(h.approvals.tokens["test"])
	h.open()
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); !r.Success || g.signed != 1 {
		t.Errorf("%+v, signed in %d times", r, g.signed)
	}
	if after := string(h.approvals.tokens["test"]); before == "" || after == before || !strings.Contains(after, "token-") {
		t.Errorf("kept %s, then %s", before, after)
	}
	if err := h.host.Forget(t.Context(), "test"); err != nil || h.approvals.tokens["test"] != nil {
		t.Errorf("a token is left, %v", err)
	}
}

// TestSigningInAsAKnownClient is about servers whose clients are registered by
// hand: the secret goes where it belongs and nowhere else.
func TestSigningInAsAKnownClient(t *testing.T) {
	g := &gatekeeper{client: "klawbot-at-home", secret: "s3cret-of-the-client"}
	g.address = serveHTTP(t, g.handler())
	known := mcp.Client{ID: g.client, Secret: g.secret, Issuer: g.address}
	servers := map[string]mcp.Server{"test": {URL: g.address + "/mcp", Client: known}}
	h := newHouse(t, servers)
	h.signIn = mcp.SignIn{Redirect: "http://127.0.0.1:1/callback", Visit: browse}
	h.open()
	h.accept("test")
	kept := string(h.approvals.tokens["test"])
	if g.signed != 1 || !strings.Contains(kept, "token-") || strings.Contains(kept, g.secret) {
		t.Errorf("signed in %d times, kept %s", g.signed, kept)
	}
	h.signIn = mcp.SignIn{}
	h.open()
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); !r.Success || g.signed != 1 {
		t.Errorf("the token is not renewed: %+v, signed in %d times", r, g.signed)
	}

	// The token was given to another client than the one that is configured now.
	h.configure(map[string]mcp.Server{"test": {URL: g.address + "/mcp", Client: mcp.Client{ID: "another", Secret: g.secret}}})
	h.open()
	if err := h.host.Connect(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "klawbot mcp approve test") {
		t.Errorf("with the token of another client: %v", err)
	}

	// The secret is for one authorization server.
	known.Issuer = "https://auth.example.com"
	h.configure(map[string]mcp.Server{"test": {URL: g.address + "/mcp", Client: known}})
	if err := h.approvals.Forget(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	h.signIn = mcp.SignIn{Redirect: "http://127.0.0.1:1/callback", Visit: browse}
	h.open()
	if err := h.host.Connect(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "issuer") {
		t.Errorf("at another authorization server: %v", err)
	}
}

// TestSigningInAsAMachine needs no person.
func TestSigningInAsAMachine(t *testing.T) {
	g := &gatekeeper{client: "klawbot-at-home", secret: "s3cret-of-the-client"}
	g.address = serveHTTP(t, g.handler())
	known := mcp.Client{ID: g.client, Secret: g.secret, Issuer: g.address, Machine: true}
	h := newHouse(t, map[string]mcp.Server{"test": {URL: g.address + "/mcp", Client: known}})
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); !r.Success || g.signed != 0 || h.approvals.tokens["test"] != nil {
		t.Errorf("%+v, signed in %d times, kept %s", r, g.signed, h.approvals.tokens["test"])
	}
	known.Secret = "another"
	h.configure(map[string]mcp.Server{"test": {URL: g.address + "/mcp", Client: known}})
	h.open()
	if err := h.host.Connect(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("with another secret: %v", err)
	}
}

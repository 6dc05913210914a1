package engine_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/tools/mcp"
)

// guarded is an MCP server over HTTP that wants somebody to sign in, with its
// authorization server.
func guarded(t *testing.T) (address string) {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	answer := func(w http.ResponseWriter, text string, args ...any) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, text, args...)
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		switch err := json.NewDecoder(r.Body).Decode(&m); {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case err != nil || m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			answer(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}`, m.ID)
		case m.Method == "tools/list":
			answer(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, m.ID)
		default:
			answer(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `{"resource":"%s/mcp","authorization_servers":["%[1]s"]}`, s.URL)
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `{"issuer":"%s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","registration_endpoint":"%[1]s/register",
			"response_types_supported":["code"],"code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}`, s.URL)
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"client_id":"us","token_endpoint_auth_method":"none","redirect_uris":[%q]}`, mcp.Redirect)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code") != "the-code" || r.FormValue("code_verifier") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer(w, `{"access_token":"let-me-in","token_type":"Bearer"}`)
	})
	return s.URL
}

// TestSigningInInTheChat: the owner is told that a server wants it, opens the page
// and sends back where it led to.
func TestSigningInInTheChat(t *testing.T) {
	t.Parallel() // it mostly waits
	h := build(t)
	h.echo()
	home := guarded(t)
	h.settings.MCP = map[string]mcp.Server{"notes": {URL: home + "/mcp"}, "here": {Command: "true"}}
	h.start()
	h.sees(alice, "MCP server notes needs you to sign in: /mcp signin notes")
	h.says(alice, "/mcp signin here")
	h.sees(alice, "MCP server here has no sign-in")
	h.says(bob, "/mcp signin notes")
	h.sees(bob, "/mcp is for owners only")
	h.says(alice, "/mcp signin notes") // and does not want to
	h.tap(alice, h.question(alice), 0)
	h.sees(alice, "Sign-in at MCP server notes failed: ")
	h.sees(alice, "❌ Declined by Person\n`notes`")
	h.says(alice, "/mcp signin notes")
	q := h.question(alice)
	u, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(q.text, "wants you to open a page at `"+u.Host+"`") || !strings.Contains(q.text, "It starts with `"+mcp.Redirect+"?`") {
		t.Fatalf("asked %q", q.text)
	}
	for _, b := range slices.Concat(q.part.Buttons...) {
		if b.URL != "" {
			t.Errorf("messengers take no address of this machine: %+v", b)
		}
	}
	_, page, _ := strings.Cut(q.text, "```\n")
	page, _, _ = strings.Cut(page, "\n```")
	at, err := url.Parse(page)
	if err != nil || at.Path != "/authorize" || at.Query().Get("code_challenge") == "" {
		t.Fatalf("the page is %q, %v", page, err)
	}
	h.says(alice, "hello") // the owner goes on talking meanwhile
	h.sees(alice, "re: hello")
	h.says(alice, mcp.Redirect+"?code=the-code&state="+url.QueryEscape(at.Query().Get("state")))
	h.sees(alice, "Signed in at MCP server notes.")
	h.sees(alice, "✅ Answered by Person\n`notes`")
	if !h.messenger.wait(10*time.Second, func() bool {
		return strings.Contains(h.logs.String(), `msg="MCP server is ready" server=notes`)
	}) {
		t.Error("it is not connected to")
	}
	for _, r := range h.model.Completions() {
		if strings.Contains(said(r), "the-code") {
			t.Error("a model reads the code")
		}
	}
}

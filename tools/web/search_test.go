package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/tools"
	"klawbot/tools/web"
)

// strict are fakes of the three search servers, which refuse what the real
// ones refuse.
var strict = map[string]http.HandlerFunc{
	"searxng": func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != "/search" || q.Get("format") != "json" || q.Get("q") == "" {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"query":"tea","number_of_results":0,"results":[
			{"title":"Green &amp; black","url":"https://tea.example/","content":"All about <b>tea</b>.","engine":"x","score":1.5},
			{"title":"No address","url":"javascript:alert(1)","content":"x"},
			{"title":"Second","url":"https://two.example/a?b=c","content":null}],"answers":[],"suggestions":[]}`)
	},
	"brave": func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Method != http.MethodGet || r.URL.Path != "/res/v1/web/search":
			http.NotFound(w, r)
		case r.Header.Get("X-Subscription-Token") != "key":
			http.Error(w, `{"type":"ErrorResponse"}`, http.StatusUnprocessableEntity)
		case q.Get("q") == "" || len(q.Get("q")) > 400 || q.Get("count") != "2" || !strings.Contains(r.Header.Get("Accept"), "json"):
			http.Error(w, `{"type":"ErrorResponse"}`, http.StatusUnprocessableEntity)
		default:
			fmt.Fprint(w, `{"type":"search","web":{"type":"search","results":[
				{"title":"Green &amp; black","url":"https://tea.example/","description":"All about <strong>tea</strong>."},
				{"title":"Second","url":"https://two.example/a?b=c","description":""}]}}`)
		}
	},
	"tavily": func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Query      string `json:"query"`
			MaxResults int    `json:"max_results"`
		}
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		switch err := d.Decode(&body); {
		case r.Method != http.MethodPost || r.URL.Path != "/search":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer key":
			http.Error(w, `{"detail":{"error":"Unauthorized"}}`, http.StatusUnauthorized)
		case err != nil || body.Query == "" || body.MaxResults != 2 || r.Header.Get("Content-Type") != "application/json":
			http.Error(w, "", http.StatusUnprocessableEntity)
		default:
			fmt.Fprint(w, `{"query":"tea","answer":null,"images":[],"results":[
				{"title":"Green & black","url":"https://tea.example/","content":"All about tea.","score":0.9,"raw_content":null},
				{"title":"Second","url":"https://two.example/a?b=c","content":""}],"response_time":0.5}`)
		}
	},
}

// searching is a Config that asks a server; the list of allowed hosts is empty:
// the owner has written the address.
func searching(s web.Search) web.Config {
	return web.Config{Search: func() web.Search { return s }, AllowedHosts: func() ([]string, string) { return nil, "" }}
}

func TestSearchBackends(t *testing.T) {
	const want = "1. Green & black\n   https://tea.example/\n   All about tea.\n2. Second\n   https://two.example/a?b=c"
	for _, name := range web.Backends() {
		t.Run(name, func(t *testing.T) {
			h := furnished(t, searching(web.Search{Backend: name, URL: serving(t, strict[name]) + "/", APIKey: "key"}))
			r := h.call("web_search", args{"query": "  tea\n", "max_results": 2})
			if r.Output != want {
				t.Errorf("%+v", r)
			}
			var data []map[string]string
			if err := json.Unmarshal(r.Data, &data); err != nil || len(data) != 2 {
				t.Fatal(err, string(r.Data))
			}
			if diff := cmp.Diff(map[string]string{"title": "Green & black", "url": "https://tea.example/", "snippet": "All about tea."}, data[0]); diff != "" {
				t.Error(diff)
			}
			if name == "searxng" {
				return
			}
			h = furnished(t, searching(web.Search{Backend: name, URL: serving(t, strict[name]), APIKey: "wrong"}))
			if r := h.call("web_search", args{"query": "tea", "max_results": 2}); r.ErrorKind != tools.Execution || !strings.HasPrefix(r.Output, "Error: "+name+": HTTP 4") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestSearchFaults(t *testing.T) {
	for name, c := range map[string]struct {
		s      web.Search
		answer http.HandlerFunc
		query  string
		want   string
	}{
		"nothing found": {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"results":[]}`) }, "x", "No results found."},
		"no JSON":       {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "x", "Error: searxng: the answer is not in the form of its API; check tools.search.url"},
		"forbidden":     {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, "x", "Error: searxng: HTTP 403: check tools.search.apiKey; SearXNG must allow the format json"},
		"too many":      {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, "x", "Error: searxng: HTTP 429: too many searches; try again later"},
		"a redirect":    {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "x", "Error: searxng: HTTP 302: it has moved; check tools.search.url"},
		"another place": {web.Search{Backend: "searxng"}, http.NotFound, "x", "Error: searxng: HTTP 404: there is no search; check tools.search.url"},
		"a long answer": {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[]`+strings.Repeat(" ", 3<<20)+`}`)
		}, "x", "Error: searxng: the answer is longer than 2.0 MiB"},
		"odd hits": {web.Search{Backend: "searxng"}, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[{"title":"a","url":"javascript:x"},{"title":"b","url":"http://x/`+strings.Repeat("y", 3000)+`"},{"title":"c\u001b&#7;[31m","url":"http://x/","content":"<b>d</b>\u202ee"},{"title":"","url":""}]}`)
		}, "x", "1. c[31m\n   http://x/\n   d\u202ee"},
		"an empty query": {web.Search{Backend: "searxng"}, hello, " \n", "Error: query is empty; say what to look for"},
		"a long query":   {web.Search{Backend: "searxng"}, hello, strings.Repeat("x", 500), "Error: query has 500 characters, and 400 are allowed; use a few words"},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.URL = serving(t, c.answer)
			if r := furnished(t, searching(c.s)).call("web_search", args{"query": c.query}); r.Output != c.want {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := furnished(t, searching(web.Search{Backend: "searxng"})).call("web_search", args{"query": "x"}); r.Output != "Error: searxng: tools.search.url is not set; write the address of your SearXNG" {
		t.Errorf("%+v", r)
	}
}

// TestSearchIsHidden shows the tool only while a server is set.
func TestSearchIsHidden(t *testing.T) {
	var s web.Search
	h := furnished(t, web.Config{Search: func() web.Search { return s }})
	for _, backend := range []string{"", "brave", ""} {
		s.Backend = backend
		shown := slices.ContainsFunc(h.e.Offered(tools.Call{}), func(t tools.Tool) bool { return t.Spec().Name == "web_search" })
		if shown != (backend != "") {
			t.Errorf("backend %q, shown %v", backend, shown)
		}
	}
	if r := h.call("web_search", args{"query": "x"}); r.Output != "Error: no search server is set; the owner can set tools.search" {
		t.Errorf("%+v", r)
	}
}

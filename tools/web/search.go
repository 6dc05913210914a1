package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/web/load"
)

// Search is the server of web_search.
type Search struct {
	Backend string // "searxng", "brave" or "tavily"; "" is none
	URL     string // "" is the default, which searxng does not have
	APIKey  string // for brave and tavily
}

// Backends are the kinds of search servers.
func Backends() []string { return []string{"searxng", "brave", "tavily"} }

type searchArgs struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results,omitempty" default:"5" min:"1" max:"20"`
}

// hit is one result. Its JSON form is stable.
type hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// The limits of a search.
const (
	maxQuery   = 400
	maxAnswer  = 2 << 20
	maxLink    = 2000
	maxSnippet = 500
	maxTitle   = 200
)

func (w *Web) searchTool() tools.Tool {
	return tools.New(tools.Spec{
		Name: "web_search", Group: tools.GroupNet, Outside: true, Arguments: map[string]string{"maxResults": "max_results", "count": "max_results"},
		Unavailable: func() string {
			if w.config.Search().Backend == "" {
				return "no search server is set; the owner can set tools.search"
			}
			return ""
		},
	}, texts, w.runSearch)
}

// runSearch is the tool web_search.
func (w *Web) runSearch(ctx context.Context, _ tools.Call, a searchArgs) tools.Result {
	query := load.Line(a.Query)
	if query == "" {
		return tools.Fail(tools.Validation, "query is empty; say what to look for")
	}
	if runes := []rune(query); len(runes) > maxQuery {
		return tools.Fail(tools.Validation, fmt.Sprintf("query has %d characters, and %d are allowed; use a few words", len(runes), maxQuery))
	}
	s := w.config.Search()
	hits, err := w.ask(ctx, s, query, a.MaxResults)
	switch {
	case ctx.Err() != nil:
		return tools.Fail(tools.Timeout, s.Backend+" did not answer in time")
	case err != nil:
		return tools.Fail(tools.Execution, s.Backend+": "+err.Error())
	}
	return listed(hits[:min(len(hits), a.MaxResults)], s.Backend)
}

// listed is the result with the hits.
func listed(hits []hit, source string) tools.Result {
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if h.Snippet != "" {
			b.WriteString("   " + h.Snippet + "\n")
		}
	}
	r := tools.OK(strings.TrimSpace(b.String()))
	if len(hits) == 0 {
		r = tools.OK("No results found.")
	}
	r.Source = "search results of " + source
	return r.With(hits)
}

// ask asks the server.
func (w *Web) ask(ctx context.Context, s Search, query string, n int) ([]hit, error) {
	b, known := backends[s.Backend]
	if !known {
		return nil, fmt.Errorf("no such backend; tools.search.backend must be one of %s", strings.Join(Backends(), ", "))
	}
	req, err := b.request(ctx, s, query, n)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	resp, err := w.direct.Do(req)
	if err != nil {
		return nil, errors.New(load.Explain(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, errors.New(load.Explain(err))
	}
	if len(body) > maxAnswer {
		return nil, errors.New("the answer is longer than " + load.Size(maxAnswer))
	}
	hits, err := b.read(body)
	if err != nil {
		return nil, errors.New("the answer is not in the form of its API; check tools.search.url")
	}
	return tidied(hits), nil
}

// refused is an error status in words for the owner.
func refused(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("HTTP %d: check tools.search.apiKey; SearXNG must allow the format json", status)
	case http.StatusTooManyRequests:
		return errors.New("HTTP 429: too many searches; try again later")
	}
	switch {
	case status >= 300 && status < 400:
		return fmt.Errorf("HTTP %d: it has moved; check tools.search.url", status)
	case status == http.StatusNotFound:
		return errors.New("HTTP 404: there is no search; check tools.search.url")
	}
	return fmt.Errorf("HTTP %d", status)
}

var markup = regexp.MustCompile(`<[^>]{1,100}>`)

// tidied puts hits on one line each and drops those without a web address.
func tidied(hits []hit) []hit {
	kept := make([]hit, 0, len(hits))
	for _, h := range hits {
		u, err := url.Parse(h.URL)
		if err != nil || len(h.URL) > maxLink || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		line := func(text string, n int) string {
			return clip.Runes(strings.Map(seen, load.Line(html.UnescapeString(markup.ReplaceAllString(text, "")))), n)
		}
		kept = append(kept, hit{line(h.Title, maxTitle), u.String(), line(h.Snippet, maxSnippet)})
	}
	return kept
}

// seen drops control characters.
func seen(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// backend is one kind of search server.
type backend struct {
	request func(ctx context.Context, s Search, query string, n int) (*http.Request, error)
	read    func(body []byte) ([]hit, error)
}

var backends = map[string]backend{
	"searxng": {searxng, contents},
	"brave": {brave, results(func(a struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	},
	) (all []hit) {
		for _, r := range a.Web.Results {
			all = append(all, hit{r.Title, r.URL, r.Description})
		}
		return all
	})},
	"tavily": {tavily, contents},
}

// contents reads an answer of SearXNG or Tavily.
var contents = results(func(a struct {
	Results []struct{ Title, URL, Content string }
},
) (all []hit) {
	for _, r := range a.Results {
		all = append(all, hit{r.Title, r.URL, r.Content})
	}
	return all
})

// results decodes an answer into A and reads its hits.
func results[A any](hits func(A) []hit) func(body []byte) ([]hit, error) {
	return func(body []byte) ([]hit, error) {
		var a A
		if err := json.Unmarshal(body, &a); err != nil {
			return nil, err
		}
		return hits(a), nil
	}
}

// endpoint is a path of the server, or of the default one.
func (s Search) endpoint(usual, path string) string {
	base := strings.TrimSuffix(s.URL, "/")
	if base == "" {
		base = usual
	}
	return strings.TrimSuffix(base, path) + path
}

func searxng(ctx context.Context, s Search, query string, _ int) (*http.Request, error) {
	if s.URL == "" {
		return nil, errors.New("tools.search.url is not set; write the address of your SearXNG")
	}
	q := url.Values{"q": {query}, "format": {"json"}}
	return http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint("", "/search")+"?"+q.Encode(), nil)
}

func brave(ctx context.Context, s Search, query string, n int) (*http.Request, error) {
	q := url.Values{"q": {query}, "count": {strconv.Itoa(n)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint("https://api.search.brave.com", "/res/v1/web/search")+"?"+q.Encode(), nil)
	if err == nil {
		req.Header.Set("X-Subscription-Token", s.APIKey)
	}
	return req, err
}

func tavily(ctx context.Context, s Search, query string, n int) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Query      string `json:"query"`
		MaxResults int    `json:"max_results"`
	}{query, n})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint("https://api.tavily.com", "/search"), bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+s.APIKey)
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

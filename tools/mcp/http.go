package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/internal/httpclient"
	"klawbot/internal/wait"
)

// maxRedirects bounds a chain of redirects.
const maxRedirects = 5

// http is the transport to a server over HTTP. The owner wrote its address, so
// it may be inside the own network.
func (s *server) http(ctx context.Context, patience *wait.Clock) (sdk.Transport, error) {
	home, err := url.Parse(s.config.URL)
	if err != nil {
		return nil, err
	}
	client := httpclient.New(httpclient.Options{Proxy: true})
	client.CheckRedirect = sameOrigin(home)
	client.Transport = &courier{next: client.Transport, home: home, headers: s.config.Headers}
	t := &sdk.StreamableClientTransport{Endpoint: s.config.URL, HTTPClient: client, MaxEventSize: maxMessage}
	if s.config.Headers["Authorization"] == "" {
		if t.OAuthHandler, err = s.door(ctx, home, patience); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// sameOrigin lets redirects stay at the server, so that keys and bodies go nowhere else.
func sameOrigin(home *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= maxRedirects:
			return errors.New("too many redirects")
		case !isAt(home, r.URL):
			return errors.New("the server redirects to another address, " + r.URL.Scheme + "://" + r.URL.Host)
		}
		return nil
	}
}

func isAt(home, u *url.URL) bool {
	return strings.EqualFold(home.Scheme, u.Scheme) && strings.EqualFold(home.Host, u.Host)
}

// courier adds the configured headers to requests and bounds the responses.
type courier struct {
	next    http.RoundTripper
	home    *url.URL
	headers map[string]string
}

// RoundTrip carries one request.
func (c *courier) RoundTrip(r *http.Request) (*http.Response, error) {
	if isAt(c.home, r.URL) && len(c.headers) > 0 {
		r = r.Clone(r.Context())
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
	}
	resp, err := c.next.RoundTrip(r)
	if err == nil && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxMessage), resp.Body} // a stream's events are bounded one by one
	}
	return resp, err
}

package httpclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/internal/httpclient"
)

func TestStaysOnRedirects(t *testing.T) {
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer s.Close()
	resp, err := httpclient.New(httpclient.Options{}).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusFound || hits != 1 {
		t.Errorf("status %d after %d requests", resp.StatusCode, hits)
	}
}

func TestFollowsRedirectsWhenAsked(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/first":
			http.Redirect(w, r, "/last", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			_, _ = w.Write([]byte("here"))
		}
	}))
	defer plain.Close()
	client := httpclient.New(httpclient.Options{Follow: true})
	resp, err := client.Get(plain.URL + "/first")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "here" {
		t.Errorf("the answer is %q, %v", body, err)
	}
	if _, err := client.Get(plain.URL + "/round"); err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("a redirect to itself: %v", err)
	}
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	trusting := secure.Client()
	trusting.CheckRedirect = client.CheckRedirect
	if _, err := trusting.Get(secure.URL); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("a redirect from https to http: %v", err)
	}
}

func TestTakesNoProxyUnlessAsked(t *testing.T) {
	for _, asked := range []bool{false, true} {
		transport := httpclient.New(httpclient.Options{Proxy: asked}).Transport.(*http.Transport)
		if (transport.Proxy != nil) != asked {
			t.Errorf("proxy asked for: %v, set: %v", asked, transport.Proxy != nil)
		}
	}
}

func TestControlRefuses(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	refused := errors.New("not there")
	var asked string
	control := func(_ context.Context, _, address string, _ syscall.RawConn) error {
		asked = address
		return refused
	}
	_, err := httpclient.New(httpclient.Options{Control: control}).Get(s.URL)
	if !errors.Is(err, refused) || asked != s.Listener.Addr().String() {
		t.Errorf("asked about %q: %v", asked, err)
	}
}

func TestHeaderTimeout(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	_, err := httpclient.New(httpclient.Options{HeaderTimeout: 20 * time.Millisecond}).Get(s.URL)
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v", err)
	}
}

func TestDialReplacesTheNetwork(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer s.Close()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
	resp, err := httpclient.New(httpclient.Options{Dial: dial}).Get("http://model.invalid/v1")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTeapot {
		t.Errorf("status %d", resp.StatusCode)
	}
}

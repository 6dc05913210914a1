package browser

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"klawbot/internal/httpclient"
)

// behind starts a proxy with a list of allowed hosts.
func behind(t *testing.T, allowed ...string) *proxy {
	t.Helper()
	hosts, err := httpclient.ParseHosts(allowed)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProxy(&httpclient.Guard{Hosts: func() httpclient.Hosts { return hosts }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// through asks a proxy for an address, as a browser does.
func through(t *testing.T, p *proxy, address string) (status int, body string) {
	t.Helper()
	at, err := url.Parse(p.address())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true}}).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestProxyForwards(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+r.URL.RequestURI())
	}))
	defer s.Close()
	status, body := through(t, behind(t, "127.0.0.1"), s.URL+"/a?b=c")
	if want := strings.TrimPrefix(s.URL, "http://") + "/a?b=c"; status != 200 || body != want {
		t.Errorf("%d %q, want %q", status, body, want)
	}
	p := behind(t)
	status, body = through(t, p, s.URL)
	if status != http.StatusForbidden || !strings.Contains(body, "Access denied") {
		t.Errorf("%d %q", status, body)
	}
	if err := p.take("127.0.0.1"); err == nil || p.take("127.0.0.1") != nil {
		t.Errorf("what was refused is remembered once: %v", err)
	}
}

// connect opens a tunnel by hand and returns the status line.
func connect(t *testing.T, p *proxy, host string) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	c, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, "CONNECT "+host+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return c, r, strings.TrimSpace(line)
}

// TestProxyTunnels is how https and web sockets pass, and how they do not.
func TestProxyTunnels(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	dialled := make(chan struct{}, 10)
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			dialled <- struct{}{}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	open := behind(t, "127.0.0.1")
	c, r, line := connect(t, open, echo.Addr().String())
	if line != "HTTP/1.1 200 Connection established" {
		t.Fatal(line)
	}
	<-dialled
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "ping\n"); err != nil {
		t.Fatal(err)
	}
	if back, err := r.ReadString('\n'); err != nil || back != "ping\n" {
		t.Errorf("%q, %v", back, err)
	}
	open.close() // and with it the tunnel
	if _, err := r.ReadString('\n'); err == nil {
		t.Error("the tunnel outlives its proxy")
	}
	shut := behind(t)
	for _, host := range []string{echo.Addr().String(), "localhost:80", "169.254.169.254:80", "[::1]:443", "2130706433:80", "printer.local:631"} {
		if _, _, line := connect(t, shut, host); !strings.HasPrefix(line, "HTTP/1.1 403 ") {
			t.Errorf("%s: %s", host, line)
		}
	}
	select {
	case <-dialled:
		t.Error("a host inside was dialled")
	default:
	}
}

// TestProxyRefusesOtherRequests does not serve as a web server.
func TestProxyRefusesOtherRequests(t *testing.T) {
	p := behind(t, "127.0.0.1")
	for _, target := range []string{"/", "ftp://example.com/", "file:///etc/passwd"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", nil)
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = u
		p.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

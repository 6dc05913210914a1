package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"klawbot/internal/dnstest"
	"klawbot/internal/httpclient"
)

// TestPrivateAddressesAreDenied pass the look at the address, and end at the look at
// the number, for pages and tunnels.
func TestPrivateAddressesAreDenied(t *testing.T) {
	var visitors atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visitors.Add(1) }))
	defer s.Close()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	address := "http://rebind.example.com:" + at.Port() + "/"
	names := dnstest.Names{"rebind.example.com": {{"127.0.0.1"}}}
	p, err := newProxy(&httpclient.Guard{}, dnstest.Resolver(names))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if status, body := through(t, p, address); status != http.StatusForbidden {
		t.Errorf("%d %q", status, body)
	}
	if _, _, line := connect(t, p, "rebind.example.com:"+at.Port()); !strings.HasPrefix(line, "HTTP/1.1 403 ") {
		t.Error(line)
	}
	if n := visitors.Load(); n > 0 {
		t.Errorf("%d visitors came inside", n)
	}
}

package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"klawbot/internal/dnstest"
	"klawbot/tools"
)

// TestPrivateAddressesAreDenied pass the look at the address, and end at the look at
// the number.
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
	w := New(Config{Resolver: dnstest.Resolver(names)})
	defer w.Close()
	r := w.request(t.Context(), tools.Call{}, requestArgs{Method: http.MethodGet, URL: address, Timeout: 10})
	if r.ErrorKind != tools.Security || !strings.HasPrefix(r.Output, "Error: Access denied: rebind.example.com (127.0.0.1) is not on the public internet") {
		t.Errorf("%+v", r)
	}
	if n := visitors.Load(); n > 0 {
		t.Errorf("%d visitors came inside", n)
	}
}

package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"klawbot/internal/httpclient"
	"klawbot/tools"
)

// leading is a resolver for which every name leads to this machine.
func leading() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go answer(theirs)
		return ours, nil
	}}
}

// answer answers the questions of one connection, as a server of DNS does over
// TCP, until the other end goes.
func answer(c net.Conn) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		question := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(question) != nil || len(m.Questions) != 1 {
			return
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
		}
		reply, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := c.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

// TestNamesThatLeadInside pass the look at the address, and end at the look at
// the number: for http_request, and for the pages and tunnels of the browser.
func TestNamesThatLeadInside(t *testing.T) {
	var visitors atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visitors.Add(1) }))
	defer s.Close()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	address := "http://rebind.example.com:" + at.Port() + "/"
	w := New(Config{Resolver: leading()})
	defer w.Close()
	r := w.request(t.Context(), tools.Call{}, requestArgs{Method: http.MethodGet, URL: address, Timeout: 10})
	if r.ErrorKind != tools.Security || !strings.HasPrefix(r.Output, "Error: Access denied: rebind.example.com (127.0.0.1) is not on the public internet") {
		t.Errorf("%+v", r)
	}
	p, err := newProxy(&httpclient.Guard{}, leading())
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

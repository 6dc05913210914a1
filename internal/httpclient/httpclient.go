// Package httpclient is the one place where an http.Client is made. What it
// makes follows no redirects unless asked, so that keys and bodies never travel
// to a host that nobody configured, takes no proxy from the environment unless
// asked, and notices connections that died in silence. It has no overall
// timeout: callers bound their requests with a context. A Guard keeps clients
// whose addresses come from a model on the public internet.
package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// The bounds of every client.
const (
	dialTimeout = 10 * time.Second
	tlsTimeout  = 10 * time.Second
	idleTimeout = 90 * time.Second
	pingAfter   = 15 * time.Second
	idleConns   = 32
	idlePerHost = 8
)

// MaxHeader is how long the head of a response may be, in bytes.
const MaxHeader = 64 << 10

// Options say what a client may do. The zero value is right for the APIs that
// the configuration names.
type Options struct {
	// Proxy takes the proxy that the environment names.
	Proxy bool
	// HeaderTimeout bounds the wait for the head of a response after the
	// request was written; 0 leaves it to the request's context.
	HeaderTimeout time.Duration
	// Control is asked about every address before it is dialled, after its
	// name was resolved; an error refuses the connection. Nil allows all.
	Control func(ctx context.Context, network, address string, c syscall.RawConn) error
	// Guard keeps the client on the public internet, and every request makes a
	// connection of its own, which the Guard is asked about. Nil is for the
	// hosts that the configuration names.
	Guard *Guard
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
	// Raw leaves compressed bodies as they are.
	Raw bool
	// Follow goes where redirects lead, never from https to http. It is for files
	// that are known by their hash and fetched without a key.
	Follow bool
	// Dial replaces the network, for servers that listen on none.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns a client with connections of its own. It may be used from several
// goroutines.
func New(o Options) *http.Client {
	t := &http.Transport{
		DialContext:            NewDial(o),
		DisableKeepAlives:      o.Guard != nil,
		DisableCompression:     o.Raw,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  o.HeaderTimeout,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: MaxHeader,
		MaxIdleConns:           idleConns,
		MaxIdleConnsPerHost:    idlePerHost,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
	}
	if o.Proxy {
		t.Proxy = http.ProxyFromEnvironment
	}
	if o.Follow {
		return &http.Client{Transport: t, CheckRedirect: follow}
	}
	return Over(t)
}

// Over returns a client of a transport that is there already. It stays on
// redirects too.
func Over(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: stay}
}

// NewDial returns the function that makes connections with the same options.
func NewDial(o Options) func(ctx context.Context, network, address string) (net.Conn, error) {
	if o.Dial != nil {
		return o.Dial
	}
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: pingAfter, ControlContext: o.Control, Resolver: o.Resolver}
	if o.Guard != nil {
		return o.Guard.dial(d)
	}
	return d.DialContext
}

// maxRedirects is how many redirects a client that follows them follows.
const maxRedirects = 10

func follow(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if last := via[len(via)-1]; last.URL.Scheme == "https" && r.URL.Scheme != "https" {
		return errors.New("a redirect from https to http")
	}
	return nil
}

// stay hands a redirect to the caller instead of following it.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

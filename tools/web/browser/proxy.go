package browser

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"klawbot/internal/httpclient"
	"klawbot/tools/web/load"
)

// proxy is the only network of a browser: it listens on the loopback and forwards what
// its guard allows. The browser looks up no names itself.
type proxy struct {
	guard    *httpclient.Guard
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	listener net.Listener
	server   *http.Server
	forward  *httputil.ReverseProxy
	tunnels  sync.WaitGroup
	// ctx ends with the proxy, and with it every tunnel.
	ctx  context.Context
	stop context.CancelFunc

	mu     sync.Mutex
	faults map[string]error // guarded by mu; by host why it is denied, by address why there is no answer
}

// maxFaults bounds what a proxy remembers.
const maxFaults = 100

// newProxy starts a proxy. Close it.
func newProxy(guard *httpclient.Guard, resolver *net.Resolver) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := httpclient.Options{Guard: guard, Resolver: resolver, Raw: true}
	p := &proxy{guard: guard, dial: httpclient.NewDial(o), listener: listener, faults: map[string]error{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Host = r.In.URL.Host }, Transport: httpclient.New(o).Transport,
		ErrorHandler: p.fail, ErrorLog: log.New(io.Discard, "", 0),
	}
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return p.ctx },
	}
	p.tunnels.Go(func() { _ = p.server.Serve(listener) }) // it ends with Close
	return p, nil
}

// address is where the proxy listens.
func (p *proxy) address() string { return "http://" + p.listener.Addr().String() }

// close ends the proxy and all that goes through it.
func (p *proxy) close() {
	p.stop()
	_ = p.server.Close() // nothing to save there
	p.tunnels.Wait()
}

// ServeHTTP takes one request of the browser.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "this is a proxy for a browser", http.StatusBadRequest)
		return
	}
	if _, err := p.guard.Check(r.URL.String()); err != nil {
		p.fail(w, r, err)
		return
	}
	p.forward.ServeHTTP(w, r)
}

// fail answers for a server that is denied or does not answer.
func (p *proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, httpclient.ErrDenied) {
		p.note(r.URL.Hostname(), err)
		http.Error(w, "Access denied", http.StatusForbidden)
		return
	}
	p.note(r.URL.String(), err)
	http.Error(w, "No answer: "+load.Explain(err), http.StatusBadGateway)
}

// note remembers the error of a host or an address.
func (p *proxy) note(name string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.faults) < maxFaults {
		p.faults[name] = err
	}
}

// take returns the error of a host or an address, and forgets it.
func (p *proxy) take(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.faults[name]
	delete(p.faults, name)
	return err
}

func (p *proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.faults)
}

// tunnel connects the browser with a host that the guard allows.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	there, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		r.URL = &url.URL{Scheme: "https", Host: r.Host}
		p.fail(w, r, err)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "no tunnel", http.StatusInternalServerError)
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	p.join(here, buffered, there)
}

// join copies both ways until one end is done or the proxy closes.
func (p *proxy) join(here net.Conn, early io.Reader, there net.Conn) {
	ended := context.AfterFunc(p.ctx, func() {
		_ = here.Close()
		_ = there.Close()
	})
	defer ended()
	p.tunnels.Add(1)
	defer p.tunnels.Done()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(here, there) // either end may go at any time
		_ = here.Close()
	})
	_, _ = io.Copy(there, early)
	_ = there.Close()
	back.Wait()
}

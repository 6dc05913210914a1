// Package pipetest is a listener without a network, for tests.
package pipetest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Listener accepts connections that are net.Pipe pairs, which work inside a
// testing/synctest bubble, where sockets hang.
type Listener struct {
	address address
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

var _ net.Listener = (*Listener)(nil)

// New makes one, with a name such as "telegram.test" for its address. Inside a
// bubble it must be made in the bubble.
func New(name string) *Listener {
	return &Listener{address: address(name), conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next Dial.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections; it leaves the open ones alone.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is the name that New was given, so that it can stand in the server's URL.
func (l *Listener) Addr() net.Addr { return l.address }

// Dial connects, whatever the network and the address. After Close it fails at
// once, as a dial does when nobody listens.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: ctx.Err()}
	}
}

// Transport is a new RoundTripper whose every request goes to the listener.
// The caller closes its idle connections, or closes the server.
func (l *Listener) Transport() *http.Transport {
	return &http.Transport{DialContext: l.Dial, MaxIdleConnsPerHost: 100}
}

type address string

func (address) Network() string  { return "pipe" }
func (a address) String() string { return string(a) }

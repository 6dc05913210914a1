package telegramtest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// PipeListener is a listener without a network: its connections are net.Pipe
// pairs, which work inside a testing/synctest bubble where sockets hang.
type PipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var _ net.Listener = (*PipeListener)(nil)

// NewPipeListener makes one. Inside a bubble it must be made in the bubble.
func NewPipeListener() *PipeListener {
	return &PipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next Dial.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections; it leaves the open ones alone.
func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is "telegram.test", so that http://telegram.test is the server's URL.
func (l *PipeListener) Addr() net.Addr { return pipeAddr{} }

// Dial connects, whatever the network and the address. After Close it fails at
// once, as a dial does when nobody listens.
func (l *PipeListener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
func (l *PipeListener) Transport() *http.Transport {
	return &http.Transport{DialContext: l.Dial, MaxIdleConnsPerHost: 100}
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "telegram.test" }

package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/web"
)

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// listen opens a page's stream and reports its lines, until it ends.
func (s *site) listen(t *testing.T, b *http.Client, after string) <-chan string {
	t.Helper()
	r := s.request(t, http.MethodGet, "/events", nil)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		defer func() { _ = resp.Body.Close() }()
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-t.Context().Done():
				return
			}
		}
	}()
	return lines
}

// until waits for a line that holds a text.
func until(t *testing.T, lines <-chan string, text string) {
	t.Helper()
	for line := range lines {
		if strings.Contains(line, text) {
			return
		}
	}
	t.Fatalf("the stream ended without %q", text)
}

// TestFiftyPagesGetTheAnswer opens 50 pages. The newest 20 are live; the others pause, and
// get what they missed when they are used again.
func TestFiftyPagesGetTheAnswer(t *testing.T) {
	s := open(t)
	b := s.signIn(t)
	before := heap()
	var streams []<-chan string
	for range 50 {
		lines := s.listen(t, b, "")
		until(t, lines, "retry: 1000")
		streams = append(streams, lines)
	}
	if more := heap() - before; more > 5<<20 {
		t.Errorf("50 pages take %d bytes", more)
	}
	if _, err := s.Send(t.Context(), home, gateway.Part{Text: "the answer for all", Key: "answer/1"}); err != nil {
		t.Fatal(err)
	}
	for _, lines := range streams[30:] {
		until(t, lines, "the answer for all")
	}
	for _, lines := range streams[:30] {
		until(t, lines, "event: end")
		until(t, s.listen(t, b, "0"), "the answer for all")
	}
}

// pipes is a listener whose connections are pipes, which hold nothing back.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8180} }

// nearby is a pipe from this machine.
type nearby struct{ net.Conn }

func (nearby) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40000} }

// TestSlowPagesEndAfterFiveSeconds: pages that stop reading block no one. Each write to
// them ends after five seconds, and with it the stream.
func TestSlowPagesEndAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := newDesk()
		c := web.New(web.Config{Desk: func() web.Desk { return desk }, Listen: "127.0.0.1:8180", SignIn: time.Hour, Log: slog.New(slog.DiscardHandler)})
		server := &http.Server{Handler: c.Handler(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
		ln := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		go func() { _ = server.Serve(ln) }()
		dial := func() (net.Conn, *bufio.Reader) {
			ours, theirs := net.Pipe()
			ln.conns <- nearby{theirs}
			return ours, bufio.NewReader(ours)
		}
		ask := func(conn net.Conn, in *bufio.Reader, request string) *http.Response {
			go func() { _, _ = io.WriteString(conn, request) }()
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		link := c.Link()
		form := "code=" + link[strings.LastIndex(link, "/")+1:]
		conn, in := dial()
		resp := ask(conn, in, fmt.Sprintf("POST /in HTTP/1.1\r\nHost: 127.0.0.1:8180\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form))
		if len(resp.Cookies()) == 0 {
			t.Fatalf("the sign-in answers %s", resp.Status)
		}
		cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
		_ = conn.Close()
		before := heap()
		var slow []net.Conn
		for range 20 {
			conn, in := dial()
			ask(conn, in, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:8180\r\nCookie: "+cookie+"\r\n\r\n")
			slow = append(slow, conn) // it reads no more
		}
		began := time.Now()
		for i := range 100 {
			if _, err := c.Send(context.Background(), home, gateway.Part{Text: strings.Repeat("a long answer ", 1000), Key: fmt.Sprint("answer/", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the slow pages held up the answers for %v", took)
		}
		synctest.Wait()
		if more := heap() - before; more > 5<<20 {
			t.Errorf("20 slow pages take %d bytes", more)
		}
		time.Sleep(6 * time.Second) // of the bubble's clock
		synctest.Wait()
		for i, conn := range slow {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Errorf("slow page %d is still served: %v", i, err)
			}
			_ = conn.Close()
		}
		_ = server.Close()
	})
}

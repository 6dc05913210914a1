package web_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/web"
)

// raw starts a server that answers each request with the same bytes, and goes.
// With reset it breaks the connection off.
func raw(t *testing.T, answer string, reset bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, answer) // the client may have enough before its end
			}
			if tcp, ok := c.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0) // a reset instead of an end
			}
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// TestBrokenServers: whatever a server does, the answer is one line that a
// person understands, without our address.
func TestBrokenServers(t *testing.T) {
	h := furnished(t, web.Config{})
	const noHTTP = "it did not send valid HTTP"
	for name, c := range map[string]struct {
		answer string
		reset  bool
		want   string
	}{
		"nothing":           {"", false, "it closed the connection without an answer"},
		"no HTTP":           {"\x00\x01\x02 hello\r\n\r\n", false, noHTTP},
		"HTTP of 1991":      {"<p>hello there", false, noHTTP},
		"HTTP/2 unasked":    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false, noHTTP},
		"TLS":               {"\x15\x03\x01\x00\x02\x02\x28", false, noHTTP},
		"two lengths":       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", false, noHTTP},
		"endless headers":   {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 20_000) + "\r\n", false, "the head of its answer is longer than 64.0 KiB"},
		"a long line":       {strings.Repeat("x", 50_000) + "\r\n\r\n", false, noHTTP},
		"half an answer":    {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nhello", false, "(the response broke off after 5 bytes: the connection ended early)\nhello"},
		"half a chunk":      {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello", false, "(the response broke off after 5 bytes: the connection ended early)\nhello"},
		"a reset":           {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\n", true, "(the response broke off after 0 bytes: it broke the connection off)"},
		"escapes in reason": {"HTTP/1.1 200 \x1b[31mred\x07" + strings.Repeat("!", 5000) + "\r\nContent-Length: 1\r\n\r\nx", false, `HTTP 200 \u001B[31mred\u0007!!!`},
	} {
		t.Run(name, func(t *testing.T) {
			address := raw(t, c.answer, c.reset)
			r := h.get(address)
			if !strings.Contains(r.Output, c.want) || len(r.Output) > 400 || strings.Contains(r.Output, "net/http") || strings.Contains(r.Output, "->") || strings.Contains(r.Output, "EOF") {
				t.Errorf("%.600q", r.Output)
			}
			if broken := !strings.HasPrefix(c.answer, "HTTP/1.1 200") || c.want == noHTTP || strings.HasPrefix(c.want, "the head"); r.Success == broken || broken && (r.ErrorKind != tools.Execution || strings.Contains(r.Output, "\n")) {
				t.Errorf("%.600q", r.Output)
			}
		})
	}
}

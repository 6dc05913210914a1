package protocol_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"klawbot/engine/internal/llm/protocol"
	"klawbot/internal/httpclient"
)

// TestConnectionsThatCloseBehindAnAnswer plays a server that promises to keep
// its connections and ends each one with the second request, as llama.cpp's
// does when that request is quick.
func TestConnectionsThatCloseBehindAnAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerOnce(conn)
		}
	}()
	client := httpclient.New(httpclient.Options{})
	defer client.CloseIdleConnections()
	e, err := protocol.New(protocol.Config{BaseURL: "http://" + l.Addr().String(), HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		resp, err := e.Post(t.Context(), "/v1/x", []byte(`{}`), time.Minute)
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != `{}|` {
			t.Errorf("request %d: %q, %v", n, body, err)
		}
		resp.Close()
	}
}

// answerOnce repeats the body of the first request and its key, and closes the
// connection when the second one is there.
func answerOnce(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	answer := string(body) + "|" + req.Header.Get("Idempotency-Key")
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	_, _ = http.ReadRequest(r) // whatever it is, it gets no answer
}

package pipetest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/pipetest"
)

func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pipetest.New("a.test")
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Host) // the client sees what is missing
		})}
		go server.Serve(l)
		transport := l.Transport()
		resp, err := (&http.Client{Transport: transport}).Get("http://" + l.Addr().String() + "/")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "a.test" {
			t.Errorf("got %q, %v", text, err)
		}
		if err := errors.Join(resp.Body.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		if _, err := l.Dial(t.Context(), "tcp", "a.test:80"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := pipetest.New("a.test").Dial(ctx, "tcp", "a.test:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody accepts: %v", err)
		}
	})
}

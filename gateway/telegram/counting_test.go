package telegram_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"klawbot/gateway/telegram"
)

// counting is a channel whose server only counts the bytes of bodies.
func counting(t *testing.T) (*telegram.Channel, *atomic.Int64) {
	t.Helper()
	received := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != r.ContentLength {
			t.Errorf("%d bytes of %d, %v", n, r.ContentLength, err)
		}
		received.Add(n)
		if _, err := io.WriteString(w, `{"ok":true,"result":{"message_id":1}}`); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	c, err := telegram.New(telegram.Config{Token: token, APIURL: server.URL, Log: discard()})
	if err != nil {
		t.Fatal(err)
	}
	return c, received
}

package telegramtest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"klawbot/internal/telegramtest"
)

// BenchmarkTurn is what a turn of the bot asks of the server: a poll, a
// placeholder, a typing sign and an edit.
func BenchmarkTurn(b *testing.B) {
	s := telegramtest.New(telegramtest.Config{})
	defer s.Close()
	base := s.URL() + "/bot" + s.Token() + "/"
	post := func(method, body string) {
		resp, err := http.Post(base+method, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			b.Fatal(method, resp.Status, err)
		}
		resp.Body.Close()
	}
	next := 0
	for b.Loop() {
		chat := int64(next%100 + 1)
		next++
		s.User(chat).Send("hello")
		post("getUpdates", fmt.Sprintf(`{"offset":%d}`, next))
		post("sendMessage", fmt.Sprintf(`{"chat_id":%d,"text":"…"}`, chat))
		post("sendChatAction", fmt.Sprintf(`{"chat_id":%d,"action":"typing"}`, chat))
		all := s.Messages(chat)
		post("editMessageText", fmt.Sprintf(`{"chat_id":%d,"message_id":%d,"text":"done"}`, chat, all[len(all)-1].ID))
	}
	b.ReportMetric(4*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

package telegramtest_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/telegramtest"
)

// texts are what the bot's messages in alice's chat say.
func texts(s *telegramtest.Server) (all []string) {
	for _, m := range s.Messages(alice) {
		if m.Bot {
			all = append(all, m.Text)
		}
	}
	return all
}

func TestFaultErrors(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	hello := obj{"chat_id": alice, "text": "hi"}
	s.Fault(telegramtest.Fault{Method: "sendMessage", After: 1, Times: 2, Kind: telegramtest.FaultError, RetryAfter: 300})
	c.send(hello)
	for range 2 {
		r := c.refused("sendMessage", hello, 429, "Too Many Requests: retry after 300")
		if r.Parameters.RetryAfter != 300 {
			t.Errorf("%+v", r)
		}
	}
	c.send(hello)
	s.Fault(telegramtest.Fault{Kind: telegramtest.FaultError})
	c.refused("getMe", nil, 500, "Internal Server Error")
	s.Fault(telegramtest.Fault{Kind: telegramtest.FaultError, Status: 401})
	c.refused("getMe", nil, 401, "Unauthorized")
	s.Fault(telegramtest.Fault{Method: "sendMessage", Chat: 7, Times: -1, Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: can't parse entities: x"})
	c.send(hello)
	c.refused("sendMessage", obj{"chat_id": 7, "text": "x"}, 400, "Bad Request: can't parse entities: x")
	s.ClearFaults()
	c.refused("sendMessage", obj{"chat_id": 7, "text": "x"}, 400, "Bad Request: chat not found")
	if got := texts(s); len(got) != 3 {
		t.Errorf("calls that failed had an effect: %q", got)
	}
}

func TestFaultPages(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.Fault(telegramtest.Fault{Kind: telegramtest.FaultHTML})
	resp, err := http.Post(c.base+"getMe", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != 502 || !strings.Contains(string(body), s.Token()) {
		t.Errorf("%d %s %v", resp.StatusCode, body, err)
	}
	s.Fault(telegramtest.Fault{Kind: telegramtest.FaultMalformed})
	if r, err := c.try("getMe", nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestResets(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	s.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultReset})
	s.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultReset, Effect: true})
	for _, text := range []string{"before", "after"} {
		if r, err := c.try("sendMessage", obj{"chat_id": alice, "text": text}); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	c.send(obj{"text": "whole"})
	if got := strings.Join(texts(s), ","); got != "after,whole" {
		t.Errorf("got %s", got)
	}
	calls := s.Calls("sendMessage")
	for i, want := range []struct{ effect, answered bool }{{false, false}, {true, false}, {true, true}} {
		if calls[i].Effect != want.effect || calls[i].Answered != want.answered || calls[i].N != i+1 {
			t.Errorf("call %d: %+v", i, calls[i])
		}
	}
	if s.Count("sendmessage") != 3 || s.Count("") != 3 || calls[1].Fault != telegramtest.FaultReset {
		t.Errorf("%d calls, %+v", s.Count(""), calls[1])
	}
}

func TestDelayAndHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{})
		c.http.Timeout = 30 * time.Second
		s.User(alice).Send("hello")
		s.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultDelay, Delay: 5 * time.Second})
		began := time.Now()
		c.send(obj{"text": "late"})
		if d := time.Since(began); d != 5*time.Second {
			t.Errorf("the delay took %v", d)
		}
		s.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultHang, Effect: true})
		began = time.Now()
		if _, err := c.try("sendMessage", obj{"chat_id": alice, "text": "hangs"}); err == nil {
			t.Error("a hanging call was answered")
		}
		if d := time.Since(began); d != 30*time.Second {
			t.Errorf("the client gave up after %v", d)
		}
		if got := strings.Join(texts(s), ","); got != "late,hangs" {
			t.Error(got)
		}
	})
}

func TestCloseEndsWhatHangs(t *testing.T) {
	s := telegramtest.New(telegramtest.Config{})
	c := newClient(t, s)
	s.Fault(telegramtest.Fault{Method: "getMe", Kind: telegramtest.FaultHang})
	done := make(chan error, 2)
	for _, method := range []string{"getMe", "getUpdates"} {
		go func() {
			_, err := c.try(method, obj{"timeout": 50})
			done <- err
		}()
	}
	waitFor(t, s, func(v telegramtest.State) bool { return v.Polling() && v.Count("getMe") == 1 })
	s.Close()
	for range 2 {
		<-done // with an error, or with an empty answer that was just in time
	}
	if _, err := c.try("getMe", nil); err == nil {
		t.Error("a closed server answers")
	}
}

func TestJournalIsBounded(t *testing.T) {
	s, c := start(t, telegramtest.Config{Journal: 5})
	for range 23 {
		c.call("getMe", nil)
	}
	calls := s.Calls("")
	if len(calls) < 5 || len(calls) > 10 || calls[len(calls)-1].N != 23 || s.Count("getMe") != 23 {
		t.Errorf("%d calls kept of %d", len(calls), s.Count("getMe"))
	}
}

// TestCallsTakeTheirTime: with a network a call takes 1 to 12 ms, and calls that are
// under way at once are carried out in an order of their own.
func TestCallsTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{Network: telegramtest.UsualNetwork, Seed: 1})
		s.User(alice).Send("hello")
		var all sync.WaitGroup
		var asked []string
		for i := range 20 {
			asked = append(asked, strconv.Itoa(i))
			all.Go(func() {
				began := time.Now()
				c.send(obj{"text": strconv.Itoa(i)})
				if d := time.Since(began); d < time.Millisecond || d > telegramtest.UsualNetwork {
					t.Errorf("a call took %v", d)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		got := texts(s)
		if slices.Equal(got, asked) {
			t.Error("the messages stand in the order of the calls")
		}
		slices.SortFunc(got, func(a, b string) int { return slices.Index(asked, a) - slices.Index(asked, b) })
		if !slices.Equal(got, asked) {
			t.Errorf("the chat shows %q", got)
		}
	})
}

package telegramtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

const alice, group, super = 42, -77, -1001234567890

// client speaks raw JSON with the server, as no library does.
type client struct {
	t    *testing.T
	http *http.Client
	base string
}

type reply struct {
	status      int
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

type obj = map[string]any

func start(t *testing.T, c telegramtest.Config) (*telegramtest.Server, *client) {
	t.Helper()
	s := telegramtest.New(c)
	t.Cleanup(s.Close)
	return s, newClient(t, s)
}

func newClient(t *testing.T, s *telegramtest.Server) *client {
	return &client{t: t, http: &http.Client{Transport: &http.Transport{}}, base: s.URL() + "/bot" + s.Token() + "/"}
}

// startPipe is start inside a synctest bubble.
func startPipe(t *testing.T, c telegramtest.Config) (*telegramtest.Server, *client) {
	t.Helper()
	l := telegramtest.NewPipeListener()
	c.Listener = l
	s, cl := start(t, c)
	cl.http.Transport = l.Transport()
	t.Cleanup(cl.http.CloseIdleConnections)
	return s, cl
}

func (c *client) try(method string, params obj) (reply, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return reply{}, err
	}
	resp, err := c.http.Post(c.base+method, "application/json", bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	r := reply{status: resp.StatusCode}
	return r, json.NewDecoder(resp.Body).Decode(&r)
}

func (c *client) call(method string, params obj) reply {
	c.t.Helper()
	r, err := c.try(method, params)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	if r.OK != (r.status == 200) || !r.OK && r.Code != r.status {
		c.t.Errorf("%s: status %d does not fit the answer %+v", method, r.status, r)
	}
	return r
}

// refused wants an error with exactly that text.
func (c *client) refused(method string, params obj, code int, text string) reply {
	c.t.Helper()
	r := c.call(method, params)
	if r.OK || r.Code != code || r.Description != text {
		c.t.Errorf("%s %v:\n got %d %q\nwant %d %q", method, params, r.Code, r.Description, code, text)
	}
	return r
}

// send sends a text to alice and returns the message's id.
func (c *client) send(params obj) int64 {
	c.t.Helper()
	if params["chat_id"] == nil {
		params["chat_id"] = alice
	}
	r := c.call("sendMessage", params)
	if !r.OK {
		c.t.Fatalf("sendMessage %v: %s", params, r.Description)
	}
	var m struct {
		ID int64 `json:"message_id"`
	}
	c.decode(r, &m)
	return m.ID
}

func (c *client) decode(r reply, dest any) {
	c.t.Helper()
	if err := json.Unmarshal(r.Result, dest); err != nil {
		c.t.Fatalf("%v in %s", err, r.Result)
	}
}

// updates polls and returns the ids.
func (c *client) updates(params obj) []int64 {
	c.t.Helper()
	r := c.call("getUpdates", params)
	if !r.OK {
		c.t.Fatalf("getUpdates: %s", r.Description)
	}
	var list []struct {
		ID int64 `json:"update_id"`
	}
	c.decode(r, &list)
	ids := []int64{}
	for _, u := range list {
		ids = append(ids, u.ID)
	}
	return ids
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func waitFor(t *testing.T, s *telegramtest.Server, condition func(telegramtest.State) bool) {
	t.Helper()
	if err := s.WaitFor(deadline(t), condition); err != nil {
		t.Fatal(err)
	}
}

func TestWaitText(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	asked := s.User(alice).Send("hello")
	go c.try("sendMessage", obj{"chat_id": alice, "text": "hi there"})
	m, err := s.WaitText(deadline(t), alice, asked, regexp.MustCompile(`^hi`))
	if err != nil || m.Text != "hi there" || !m.Bot || m.ID <= asked {
		t.Errorf("got %+v, %v", m, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.WaitText(ctx, alice, m.ID, regexp.MustCompile(`^hi`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a message before the given one matched, or the wait did not end: %v", err)
	}
}

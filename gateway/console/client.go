package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Client is a terminal's side.
type Client struct {
	http *http.Client
	base string
}

// NewClient returns a terminal that reaches a Channel with h, whose handler
// stands at base ("http://klawbot/console").
func NewClient(h *http.Client, base string) *Client { return &Client{http: h, base: base} }

// Say hands a message over and returns its id. When it returns nil, the
// message is stored. /file PATH, or a path alone, sends a file. A message that the bot did not take is a *RefusedError;
// the next one may find it well again.
func (c *Client) Say(ctx context.Context, text string) (int64, error) {
	words, file, err := withFile(text)
	if err != nil {
		return 0, &RefusedError{err.Error()}
	}
	payload, err := json.Marshal(said{words, file})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/messages", bytes.NewReader(payload))
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return 0, refusal(resp)
	}
	var a accepted
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return 0, fmt.Errorf("read the message's id: %w", err)
	}
	return a.ID, nil
}

// Events calls fn for every event, TypeReady first, until fn returns an error,
// ctx ends or the bot goes away, and returns that error.
func (c *Client) Events(ctx context.Context, fn func(Event) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/events", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	for dec := json.NewDecoder(resp.Body); ; {
		var e Event
		err := dec.Decode(&e)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return ErrGone
		case err != nil:
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
}

// ErrGone is returned by Events when the bot has ended.
var ErrGone = errors.New("the bot has stopped")

// ErrOff is returned when the bot runs without its console.
var ErrOff = errors.New("the bot's console is off")

// RefusedError says why the bot did not take what it was asked for.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

func refusal(resp *http.Response) error {
	if resp.StatusCode == http.StatusNotFound {
		return ErrOff
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)) // what came is all there is to tell
	return &RefusedError{cmp.Or(strings.TrimSpace(string(text)), resp.Status)}
}

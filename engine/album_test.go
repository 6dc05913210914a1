package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"klawbot/gateway"
	"klawbot/internal/modeltest"
)

// TestAlbumInAGroup: the caption of one part means all parts of the album, and no other.
func TestAlbumInAGroup(t *testing.T) {
	h := build(t)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		var parts []string
		for _, m := range r.Messages[1:] {
			text, _, _ := strings.Cut(m.Text(), "\n")
			parts = append(parts, strings.TrimPrefix(text, "[Bob] "))
		}
		return modeltest.Text(strings.Join(parts, "; "))
	})
	h.start()
	group := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	part := func(album, text string, meant bool) gateway.Update {
		u := h.next(gateway.Message{Address: group, Group: true, Album: album, Described: true, Sender: gateway.Sender{ID: bob, Name: "Bob"}, Text: text})
		if !meant {
			u.Raw = bytes.Replace(u.Raw, []byte(`"Addressed":true`), []byte(`"Addressed":false`), 1)
		}
		return u
	}
	h.accept(part("b", "[other]", false), part("a", "[one]", false), part("a", "[two]", true), part("a", "[three]", false))
	h.shows(-100, "[one]; [two]; [three]")
}

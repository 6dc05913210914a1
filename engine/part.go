package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

const (
	// repeatMark stands before a message that may be there already.
	repeatMark = "↻ "
	// partUnits is how long a Telegram message may be, in UTF-16 units.
	partUnits = 4096
	// pieceUnits leaves room for what rendering adds to a piece of a document.
	pieceUnits = 3000
)

// outsFor are the rows for the parts of one text. The last part ends the answer.
func outsFor(to gateway.Address, parts []gateway.Part, key string, replyTo int64) []store.Out {
	outs := make([]store.Out, 0, len(parts))
	for i, p := range parts {
		if i == 0 {
			p.ReplyTo = replyTo
		}
		p.Last = i == len(parts)-1
		outs = append(outs, store.Out{Key: fmt.Sprintf("%s/%d", key, i), Address: to, Body: encodePart(p), State: store.OutboxNew})
	}
	return outs
}

func encodePart(p gateway.Part) []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // a Part holds only strings, numbers and booleans
	}
	return body
}

// deleteBody is the part of a row that takes its message away.
var deleteBody = encodePart(gateway.Part{})

func addOuts(tx *store.Tx, outs []store.Out) error {
	for _, o := range outs {
		if err := tx.Outbox().AddOut(o); err != nil {
			return err
		}
	}
	return nil
}

// post sends a text of the bot itself, outside any answer.
func (e *Engine) post(ctx context.Context, a gateway.Address, key, text string) {
	to := a
	outs := outsFor(to, e.gateway.Render(to.Chat.Channel, text), key, 0)
	if err := e.store.Write(ctx, func(tx *store.Tx) error { return addOuts(tx, outs) }); err != nil {
		e.log.Error("message not stored", "chat", to.String(), "err", err)
	}
}

// markRepeated marks a part that may be there already. Where the text has no
// room for the mark, a button carries it.
func markRepeated(p gateway.Part) gateway.Part {
	units := clip.UTF16Len(repeatMark)
	if clip.UTF16Len(p.Text)+units > partUnits {
		p.Buttons = append(slices.Clone(p.Buttons), []gateway.Button{{Text: "↻", Data: "repeated"}})
		return p
	}
	p.Text = repeatMark + p.Text
	p.Entities = slices.Clone(p.Entities)
	for i := range p.Entities {
		p.Entities[i].Offset += units
	}
	return p
}

// pieces cuts a text into pieces of at most that many UTF-16 units, at the ends
// of lines where there are any.
func pieces(text string, units int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end, lineEnd, n := len(text), 0, 0
			for i, r := range text {
				if n += clip.UTF16Len(string(r)); n > units {
					end = i
					break
				}
				if r == '\n' {
					lineEnd = i + 1
				}
			}
			if end < len(text) && lineEnd > 0 {
				end = lineEnd
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

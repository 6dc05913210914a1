package memory

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
)

// AddMessage makes a message that was stored findable, when the transaction is
// committed. Its source is its session, so that what was said there one after
// another are neighbours. What nobody said is left out.
func AddMessage(tx *store.Tx, m store.Said, size ChunkSize) error {
	text := saidText(m.Message)
	if text == "" {
		return nil
	}
	pieces := Split(text, size.Size, size.Overlap)
	chunks := make([]store.Chunk, len(pieces))
	for i, piece := range pieces {
		chunks[i] = store.Chunk{Kind: store.KindMessage, Owner: int64(m.ID), Channel: m.Address.Channel, Chat: m.Address.Chat,
			Source: SessionSource(m.Session), Content: piece, CreatedAt: m.At}
	}
	if err := Add(tx, chunks); err != nil {
		return fmt.Errorf("index message %d: %w", m.ID, err)
	}
	return nil
}

// SessionSource is the source of the messages of a session.
func SessionSource(id store.SessionID) string { return "session " + strconv.FormatInt(int64(id), 10) }

// maxSaid is how much of a message is found, in bytes. What is longer was not
// written to be read.
const maxSaid = 64 << 10

// saidText is a message as it is found: who said it, and what. It is empty for
// what nobody said: results of tools and lines for people alone.
func saidText(m store.Message) string {
	text := m.Body.PlainText()
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "")
	}
	text = strings.TrimSpace(text)
	if text == "" || m.Type != "" {
		return ""
	}
	switch m.Body.Role {
	case llm.RoleAssistant:
		return "assistant: " + text
	case llm.RoleUser:
		if m.SenderName == "" {
			return text
		}
		return m.SenderName + ": " + strings.TrimPrefix(text, "["+m.SenderName+"] ")
	}
	return ""
}

// catchUpBatch is how many messages one transaction of CatchUp looks at.
const catchUpBatch = 200

// CatchUp makes messages findable that came into the database in another way than
// through AddMessage: from an earlier version or by an import.
func (m *Memory) CatchUp(ctx context.Context, wanted func(store.Address) bool, size ChunkSize) error {
	for {
		var said []store.Said
		var state string
		var from, last store.MessageID
		err := m.store.Read(ctx, func(tx *store.Tx) (err error) {
			if state, err = tx.Indexed(store.KindMessage, ""); err != nil {
				return err
			}
			if state != "" {
				n, err := strconv.ParseInt(state, 10, 64)
				if err != nil {
					return fmt.Errorf("state of the index of messages: %w", err)
				}
				from = store.MessageID(n)
			}
			said, last, err = tx.SaidAfter(from, catchUpBatch)
			return err
		})
		if err != nil || last == from {
			return err
		}
		err = m.store.Write(ctx, func(tx *store.Tx) error {
			for _, s := range said {
				if !wanted(s.Address) {
					continue
				}
				if err := AddMessage(tx, s, size); err != nil {
					return err
				}
			}
			return tx.SetIndexed(store.KindMessage, "", strconv.FormatInt(int64(last), 10))
		})
		if err != nil {
			return err
		}
	}
}

package memory

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/internal/clip"
)

// AddMessages makes messages that were stored findable, when the transaction is
// committed. They are in the order in which they were said. The source of each is
// its session, so that what was said there one after another are neighbours. Results of
// tools and lines for people alone are left out.
func AddMessages(tx *store.Tx, said []store.Said, size ChunkSize) error {
	chunks := map[store.SessionID][]store.Chunk{}
	for _, m := range said {
		for _, piece := range Split(saidText(m.Message), size.Size, size.Overlap) {
			chunks[m.Session] = append(chunks[m.Session], store.Chunk{
				Kind: store.KindMessage, Owner: int64(m.ID), Channel: m.Address.Chat.Channel, Chat: m.Address.Chat.ID,
				Source: SessionSource(m.Session), Content: piece, CreatedAt: m.At,
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(chunks)) {
		if err := Add(tx, chunks[id]); err != nil {
			return fmt.Errorf("index the messages of session %d: %w", id, err)
		}
	}
	return nil
}

// SessionSource is the source of the messages of a session.
func SessionSource(id store.SessionID) string { return "session " + strconv.FormatInt(int64(id), 10) }

// maxSaid is how much of a message is found, in bytes. What is longer was not
// written to be read.
const maxSaid = 64 << 10

// asksTool is the beginning of a command that asks a tool.
var asksTool = regexp.MustCompile(`^/(memory|tool)(@\w+)?(\s|$)`)

// saidText is the searchable text of a message: its sender and its words. It is empty
// for results of tools and commands, for lines for people alone, and for searches,
// which would find themselves.
func saidText(m store.Message) string {
	text := strings.TrimSpace(clip.Bytes(m.Body.PlainText(), maxSaid))
	if text == "" || m.Type != "" || m.Model == store.ByCommand && m.Body.Role == llm.RoleAssistant {
		return ""
	}
	switch m.Body.Role {
	case llm.RoleAssistant:
		return "assistant: " + text
	case llm.RoleUser:
		if asksTool.MatchString(strings.TrimPrefix(text, "["+m.SenderName+"] ")) {
			return ""
		}
		if m.SenderName == "" {
			return text
		}
		return m.SenderName + ": " + strings.TrimPrefix(text, "["+m.SenderName+"] ")
	}
	return ""
}

// indexAtOnce is how many messages are indexed in one transaction: few, so that turns can
// write between two.
const indexAtOnce = 20

// index indexes the next wanted messages.
func index(tx *store.Tx, wanted func(store.Address) bool, size ChunkSize) error {
	from, err := indexedThrough(tx)
	if err != nil {
		return err
	}
	said, last, err := tx.Index().SaidAfter(from, indexAtOnce)
	if err != nil || last == from {
		return err
	}
	said = slices.DeleteFunc(said, func(s store.Said) bool { return !wanted(s.Address) })
	if err := AddMessages(tx, said, size); err != nil {
		return err
	}
	return tx.Index().SetIndexed(store.KindMessage, "", strconv.FormatInt(int64(last), 10))
}

// CatchUp indexes the messages that are not indexed yet. The turns write between two of its
// transactions. What a power cut takes back of it is indexed again.
func (m *Memory) CatchUp(ctx context.Context, wanted func(store.Address) bool, size ChunkSize) error {
	for {
		var waiting int
		err := m.store.Read(ctx, func(tx *store.Tx) error {
			from, err := indexedThrough(tx)
			if err == nil {
				waiting, err = tx.Index().CountMessagesAfter(from, 1)
			}
			return err
		})
		if err != nil || waiting == 0 {
			return err
		}
		err = m.store.WriteUnsynced(ctx, func(tx *store.Tx) error { return index(tx, wanted, size) })
		if err != nil {
			return err
		}
	}
}

// indexedThrough is the last message that CatchUp has seen.
func indexedThrough(tx *store.Tx) (store.MessageID, error) {
	state, err := tx.Index().Indexed(store.KindMessage, "")
	if err != nil || state == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(state, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("state of the index of messages: %w", err)
	}
	return store.MessageID(n), nil
}

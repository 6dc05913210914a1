package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/internal/redact"
)

// record is a message as a line of the conversation logs and of an export.
type record struct {
	ID      string     `json:"id"`
	TS      string     `json:"ts"`
	Role    llm.Role   `json:"role"`
	Content string     `json:"content"`
	Type    string     `json:"type,omitempty"`
	Meta    recordMeta `json:"meta"`
}

type recordMeta struct {
	Channel    string `json:"channel"`
	ChatID     string `json:"chat_id"`
	Thread     int64  `json:"thread,omitempty"`
	Sender     int64  `json:"sender,omitempty"`
	SenderName string `json:"sender_name,omitempty"`
	Model      string `json:"model,omitempty"`
	TokensIn   int    `json:"tokens_in,omitempty"`
	TokensOut  int    `json:"tokens_out,omitempty"`
	// Tool names the tools of a tool_call or tool_result, with commas.
	Tool string `json:"tool,omitempty"`
	// Reason says why a session began.
	Reason string `json:"reason,omitempty"`
	// Body is the whole message where Content is less than that.
	Body *llm.Message `json:"body,omitempty"`
}

// The types of lines for messages that have none but are not plain text.
const (
	typeCall   = "tool_call"
	typeResult = "tool_result"
)

// recordTime is RFC 3339 in UTC with the milliseconds that are stored.
const recordTime = "2006-01-02T15:04:05.000Z"

// recordOf is a message as a record.
func recordOf(e store.Said) record {
	r := record{
		ID: e.UID, TS: e.At.Format(recordTime), Role: e.Body.Role, Type: e.Type,
		Meta: recordMeta{
			Channel: e.Address.Chat.Channel, ChatID: e.Address.Chat.String(), Thread: e.Address.Thread,
			Sender: e.Sender, SenderName: e.SenderName,
			Model: e.Model, TokensIn: e.InputTokens, TokensOut: e.OutputTokens,
		},
	}
	derived, tools := "", []string(nil)
	var content []string
	for _, b := range e.Body.Blocks {
		switch {
		case b.Text != "":
			content = append(content, b.Text)
		case b.Call != nil:
			derived, tools = typeCall, append(tools, b.Call.Name)
			content = append(content, b.Call.Name+" "+b.Call.Arguments)
		case b.Result != nil:
			derived, tools = typeResult, append(tools, b.Result.Name)
			content = append(content, b.Result.Text)
		}
	}
	r.Content, r.Meta.Tool = strings.Join(content, "\n"), strings.Join(tools, ",")
	if r.Type == "" {
		r.Type = derived
	}
	if r.Type == store.TypeBreak {
		r.Meta.Reason = "user_reset"
	}
	if !reflect.DeepEqual(e.Body, r.plainBody()) || e.Type == "" && e.Body.Role == llm.RoleTool {
		r.Meta.Body = &e.Body
	}
	return r
}

// plainBody is the message that role and content alone stand for.
func (r record) plainBody() llm.Message {
	if r.Content == "" {
		return llm.Message{Role: r.Role}
	}
	return llm.Text(r.Role, r.Content)
}

// line is the record as one line with its newline, without secrets.
func (r record) line(secrets *redact.Set) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("message %s: %w", r.ID, err)
	}
	return secrets.JSON(b.Bytes()), nil
}

// parseRecord reads a line and checks what the database depends on. The address whose
// log it stands in counts where the line does not say whose it is.
func parseRecord(log store.Address, line []byte) (store.Said, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return store.Said{}, fmt.Errorf("not a conversation record: %w", err)
	}
	if r.ID == "" {
		return store.Said{}, errors.New("not a conversation record: it has no id")
	}
	if r.Meta.ChatID == "" && log.Chat.Channel != "" {
		r.Meta.ChatID, r.Meta.Thread = log.Chat.String(), log.Thread
	}
	at, err := time.Parse(time.RFC3339, r.TS)
	at = at.UTC()
	if err != nil || at.UnixMilli() <= 0 || at.Year() > 9999 { // 0 stands for no time, and years have four digits
		return store.Said{}, fmt.Errorf("record %q: ts %q is not a time", r.ID, r.TS)
	}
	if !slices.Contains([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, store.RoleSystem}, r.Role) {
		return store.Said{}, fmt.Errorf("record %q: role %q is unknown", r.ID, r.Role)
	}
	address, err := parseAddress(r.Meta.ChatID, r.Meta.Thread)
	if err != nil {
		return store.Said{}, fmt.Errorf("record %q: %w", r.ID, err)
	}
	return store.Said{Address: address, Message: store.Message{
		UID: r.ID, Body: r.body(), Type: r.storedType(), At: at,
		Sender: r.Meta.Sender, SenderName: r.Meta.SenderName,
		Model: r.Meta.Model, InputTokens: r.Meta.TokensIn, OutputTokens: r.Meta.TokensOut,
	}}, nil
}

func (r record) body() llm.Message {
	if r.Meta.Body == nil {
		return r.plainBody()
	}
	return llm.Message{Role: r.Role, Blocks: r.Meta.Body.Blocks}
}

// storedType undoes record's derived types. Without a body a call or a result
// stays a line for people: a model must not see one without the other.
func (r record) storedType() string {
	switch {
	case r.Meta.Body == nil && r.Type == "" && r.Role == llm.RoleTool:
		return typeResult
	case r.Meta.Body != nil && (r.Type == typeCall || r.Type == typeResult):
		return ""
	}
	return r.Type
}

package llm_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
)

// history reads a conversation from a short notation, one message a line:
//
//	u hello          a user's text; " | " parts it into blocks
//	a hi; c1 list    an assistant's text and calls "ID name [arguments]"
//	t c1 output      a tool message; "; " parts its results
//	T thought        an assistant's thinking of provider p and model m
func history(t *testing.T, text string) []llm.Message {
	t.Helper()
	var msgs []llm.Message
	for line := range strings.Lines(strings.TrimSpace(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		m := llm.Message{}
		switch kind {
		case "u":
			m.Role = llm.RoleUser
			for part := range strings.SplitSeq(rest, " | ") {
				m.Blocks = append(m.Blocks, llm.Block{Text: part})
			}
		case "a", "T":
			m.Role = llm.RoleAssistant
			for part := range strings.SplitSeq(rest, "; ") {
				m.Blocks = append(m.Blocks, assistantBlock(kind, part))
			}
		case "t":
			m.Role = llm.RoleTool
			for part := range strings.SplitSeq(rest, "; ") {
				id, text, _ := strings.Cut(part, " ")
				m.Blocks = append(m.Blocks, llm.Block{Result: &llm.ToolResult{CallID: id, Text: text}})
			}
		default:
			t.Fatalf("line %q", line)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

func assistantBlock(kind, part string) llm.Block {
	fields := strings.SplitN(part, " ", 3)
	switch {
	case kind == "T" && strings.HasPrefix(part, "~"):
		return llm.Block{Thinking: &llm.Thinking{Text: part[1:], Provider: "p", Model: "m"}}
	case len(fields) > 1 && strings.HasPrefix(part, "c"):
		arguments := "{}"
		if len(fields) > 2 {
			arguments = fields[2]
		}
		return llm.Block{Call: &llm.ToolCall{ID: fields[0], Name: fields[1], Arguments: arguments, WireID: "w" + fields[0], Provider: "p"}}
	}
	return llm.Block{Text: part}
}

// show writes messages in the notation of history.
func show(msgs []llm.Message) string {
	var lines []string
	for _, m := range msgs {
		var parts []string
		kind, sep := map[llm.Role]string{llm.RoleUser: "u", llm.RoleAssistant: "a", llm.RoleTool: "t"}[m.Role], "; "
		if m.Role == llm.RoleUser {
			sep = " | "
		}
		for _, b := range m.Blocks {
			switch {
			case b.Thinking != nil:
				parts = append(parts, "~"+b.Thinking.Text)
			case b.Image != nil:
				parts = append(parts, "<"+b.Image.Sum+">")
			case b.Call != nil:
				parts = append(parts, strings.TrimSuffix(b.Call.ID+" "+b.Call.Name+" "+b.Call.Arguments, " {}"))
			case b.Result != nil:
				parts = append(parts, b.Result.CallID+" "+b.Result.Text)
			default:
				parts = append(parts, b.Text)
			}
		}
		lines = append(lines, kind+" "+strings.Join(parts, sep))
	}
	return strings.Join(lines, "\n")
}

func TestNormalize(t *testing.T) {
	const lost = "Error: the call was interrupted; no result is known"
	own := llm.Shape{Provider: "p", Model: "m", Replay: llm.ReplayToolTurns, MergeUsers: true}
	for _, c := range []struct {
		name  string
		shape llm.Shape
		in    string
		want  string
	}{
		{"nothing to do", own, "u hi\na c1 list\nt c1 files\na done", "u hi\na c1 list\nt c1 files\na done"},
		{"orphan result after a cut", own, "u hi\nt c9 old\na yes", "u hi\na yes"},
		{"result before its call", own, "u hi\nt c1 early\na c1 list\na yes", "u hi\na c1 list\nt c1 " + lost + "\na yes"},
		{"missing result", own, "u hi\na c1 list; c2 read\nt c2 text\nu and?", "u hi\na c1 list; c2 read\nt c1 " + lost + "; c2 text\nu and?"},
		{"results in another order, in two messages", own, "u hi\na c1 x; c2 y\nt c2 two\nt c1 one", "u hi\na c1 x; c2 y\nt c1 one; c2 two"},
		{"duplicate results", own, "u hi\na c1 x\nt c1 one; c1 again", "u hi\na c1 x\nt c1 one"},
		{"a word between call and result", own, "u hi\na c1 x\nu wait\nt c1 one", "u hi\na c1 x\nt c1 one\nu wait"},
		{"same call stored twice", own, "u hi\na c1 x\nt c1 one\na c1 x\nt c1 one", "u hi\na c1 x\nt c1 one"},
		{"empty assistant", own, "u hi\na  \nu there?", "u hi | there?"},
		{"two users, two assistants", own, "u one\nu two | three\na four\na five", "u one | two | three\na four; five"},
		{"two users stay two", llm.Shape{}, "u one\nu two | three\nu  \na four", "u one\nu two | three\na four"},
		{"assistant first", own, "a report\nu thanks", "u (the conversation continues)\na report\nu thanks"},
		{"no user at all", own, "a c1 x\nt c1 one", "u (the conversation continues)\na c1 x\nt c1 one"},
		{"blank user text", own, "u  \na yes", "u (the conversation continues)\na yes"},
		{"empty result", own, "u hi\na c1 x\nt c1", "u hi\na c1 x\nt c1 (no output)"},
		{"own thinking of a tool turn", own, "u hi\nT ~hm; c1 x\nt c1 one\nT ~so; done", "u hi\na ~hm; c1 x\nt c1 one\na done"},
		{"all own thinking", llm.Shape{Provider: "p", Model: "m", Replay: llm.ReplayAll, MergeUsers: true}, "u hi\nT ~so; done", "u hi\na ~so; done"},
		{"foreign thinking", llm.Shape{Provider: "p", Model: "other", Replay: llm.ReplayAll}, "u hi\nT ~so; done", "u hi\na done"},
		{"thinking alone", llm.Shape{Provider: "p", Model: "m", Replay: llm.ReplayAll, MergeUsers: true}, "u hi\nT ~so\nu ?", "u hi | ?"},
		{"bridge", llm.Shape{BridgeAfterTool: true}, "u hi\na c1 x\nt c1 one\nu go", "u hi\na c1 x\nt c1 one\na (results read)\nu go"},
		{"arguments that are no object", own, "u hi\na c1 x {\"a\":\nt c1 no", "u hi\na c1 x\nt c1 no"},
		{"half an emoji in arguments", own, `u hi` + "\n" + `a c1 x {"a":"\ud83d","b":"\ud83d\ude00","c":"\\ud83d"}` + "\nt c1 ok", `u hi` + "\n" + `a c1 x {"a":"\ufffd","b":"\ud83d\ude00","c":"\\ud83d"}` + "\nt c1 ok"},
		{"invalid UTF-8", own, "u hi\xff", "u hi\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := llm.Normalize(history(t, c.in), c.shape)
			if diff := cmp.Diff(c.want, show(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			checkRules(t, got, c.shape)
		})
	}
}

func TestNormalizeForgetsForeignIDs(t *testing.T) {
	in := history(t, "u hi\na c1 x\nt c1 one")
	in[1].Blocks[0].Call.Extra = json.RawMessage(`{"a":1}`)
	if c := llm.Normalize(in, llm.Shape{Provider: "p"})[1].Calls()[0]; c.WireID != "wc1" || c.Extra == nil {
		t.Errorf("own call lost its id or blob: %+v", c)
	}
	if c := llm.Normalize(in, llm.Shape{Provider: "q"})[1].Calls()[0]; c.WireID != "" || c.Extra != nil || c.ID != "c1" {
		t.Errorf("foreign call kept its id or blob: %+v", c)
	}
	if in[1].Blocks[0].Call.WireID != "wc1" {
		t.Error("the input was changed")
	}
}

// checkRules fails when messages break a promise of Normalize.
func checkRules(t *testing.T, msgs []llm.Message, shape llm.Shape) {
	t.Helper()
	merged := shape.MergeUsers
	if len(msgs) == 0 || msgs[0].Role != llm.RoleUser {
		t.Fatalf("no user message first:\n%s", show(msgs))
	}
	ids := map[string]bool{}
	var open []llm.ToolCall
	for i, m := range msgs {
		if i > 0 && msgs[i-1].Role == m.Role && (merged || m.Role != llm.RoleUser) {
			t.Fatalf("message %d has the role of its neighbour:\n%s", i, show(msgs))
		}
		if (m.Role == llm.RoleTool) != (len(open) > 0) {
			t.Fatalf("message %d: calls and results do not meet:\n%s", i, show(msgs))
		}
		if m.Role == llm.RoleTool {
			checkResults(t, open, m, shape.PicturesApart)
		}
		open = m.Calls()
		for _, c := range open {
			if c.ID == "" || ids[c.ID] || c.Name == "" || llm.CheckArguments(c.Arguments) != nil {
				t.Fatalf("call %+v is not sound", c)
			}
			ids[c.ID] = true
		}
		if len(open) == 0 && m.Role != llm.RoleTool && strings.TrimSpace(m.PlainText()) == "" && !llm.HasPictures(msgs[i:i+1]) || !utf8.ValidString(m.PlainText()) {
			t.Fatalf("message %d is blank or not UTF-8", i)
		}
	}
	if len(open) > 0 {
		t.Fatalf("the last calls have no results:\n%s", show(msgs))
	}
}

func checkResults(t *testing.T, open []llm.ToolCall, m llm.Message, apart bool) {
	t.Helper()
	if len(m.Blocks) != len(open) {
		t.Fatalf("%d results for %d calls", len(m.Blocks), len(open))
	}
	for i, b := range m.Blocks {
		if len(b.Result.Images) > 0 && apart {
			t.Fatalf("result %d still has pictures", i)
		}
		if b.Result == nil || b.Result.CallID != open[i].ID || strings.TrimSpace(b.Result.Text) == "" || !utf8.ValidString(b.Result.Text) {
			t.Fatalf("result %d: %+v", i, b.Result)
		}
	}
}

// FuzzNormalize makes histories out of bytes, two to a block.
func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{"", "ab", "u1a2t3", "C1C1R1R1u0", "\x00\x10\x21\x32\x43\x54\x65\x76", "T1C2u3R2C2R2"} {
		f.Add([]byte(seed), true, true, true)
		f.Add([]byte(seed), false, false, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, bridge, merge, apart bool) {
		shape := llm.Shape{Provider: "p", Model: "m", Replay: llm.ReplayToolTurns, BridgeAfterTool: bridge, MergeUsers: merge, PicturesApart: apart}
		once := llm.Normalize(random(data), shape)
		checkRules(t, once, shape)
		if diff := cmp.Diff(once, llm.Normalize(once, shape)); diff != "" {
			t.Errorf("not idempotent (-once +twice)\n%s", diff)
		}
	})
}

func random(data []byte) []llm.Message {
	roles := []llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, "odd"}
	texts := []string{"", " ", "text", "\xff", "\u00e9"}
	arguments := []string{"", "{}", "[1]", `{"a":"\ud800"}`, `{"a":1,"a":2}`, "nul"}
	var msgs []llm.Message
	for ; len(data) > 1; data = data[2:] {
		a, b := int(data[0]), int(data[1])
		if len(msgs) == 0 || a&1 == 0 {
			msgs = append(msgs, llm.Message{Role: roles[a>>1&3]})
		}
		m := &msgs[len(msgs)-1]
		id, text := texts[b%3]+string(rune('0'+b%4)), texts[b%len(texts)]
		if a&32 != 0 && m.Role == llm.RoleUser {
			m.Blocks = append(m.Blocks, llm.Block{Image: &llm.Image{Sum: id, Label: text}})
		}
		switch a >> 3 & 3 {
		case 0:
			m.Blocks = append(m.Blocks, llm.Block{Text: text})
		case 1:
			m.Blocks = append(m.Blocks, llm.Block{Call: &llm.ToolCall{ID: id, Name: text, Arguments: arguments[b%len(arguments)]}})
		case 2:
			r := &llm.ToolResult{CallID: id, Text: text}
			if b&8 != 0 {
				r.Images = []llm.Image{{Sum: id, Label: text}}
			}
			m.Blocks = append(m.Blocks, llm.Block{Result: r})
		case 3:
			m.Blocks = append(m.Blocks, llm.Block{Thinking: &llm.Thinking{Text: text, Provider: "p", Model: texts[b%2] + "m"}})
		}
	}
	return msgs
}

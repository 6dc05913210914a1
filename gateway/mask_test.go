package gateway_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// window is a channel that keeps the parts that it shows. It renders a part for each
// paragraph.
type window struct {
	line
	shown  []gateway.Part
	toasts []string
	work   []gateway.Work
}

func (w *window) Render(text string) (parts []gateway.Part) {
	for p := range strings.SplitSeq(text, "\n\n") {
		parts = append(parts, gateway.Part{Text: p})
	}
	return parts
}

func (w *window) Send(_ context.Context, _ gateway.Address, p gateway.Part) (int64, error) {
	w.shown = append(w.shown, p)
	return 1, nil
}

func (w *window) Edit(ctx context.Context, to gateway.Address, _ int64, p gateway.Part) error {
	_, err := w.Send(ctx, to, p)
	return err
}

func (w *window) Draft(ctx context.Context, to gateway.Address, _ int64, p gateway.Part) error {
	_, err := w.Send(ctx, to, p)
	return err
}

func (w *window) Answer(_ context.Context, _, text string) error {
	w.toasts = append(w.toasts, text)
	return nil
}

func (w *window) Work(_ context.Context, _ gateway.Address, work gateway.Work) error {
	w.work = append(w.work, work)
	return nil
}

const roofKey = "sk-key-of-the-roof"

func roof(t *testing.T) (*window, *gateway.Gateway) {
	t.Helper()
	secrets := new(redact.Set)
	secrets.Add(roofKey, "short-1")
	w := &window{line: line{name: "telegram"}}
	g, err := gateway.New(gateway.Config{
		Channels: []gateway.Channel{w}, Redact: secrets, Log: slog.New(slog.DiscardHandler),
		Whitelist: func() whitelist.List { return whitelist.List{"telegram": {Chats: []int64{11}}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, g
}

func TestNothingThatLeavesShowsSecret(t *testing.T) {
	w, g := roof(t)
	to := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}
	part := gateway.Part{
		Text: "😀 bold " + roofKey + " code short-1.",
		Entities: []gateway.Entity{
			{Type: "bold", Offset: 0, Length: 7}, {Type: "code", Offset: 8, Length: 6}, {Type: "italic", Offset: 14, Length: 17},
			{Type: "text_link", Offset: 27, Length: 4, URL: "https://example.org"}, {Type: "text_link", Offset: 3, Length: 4, URL: "https://example.org/?k=sk%2Dkey-of-the-roof"},
			{Type: "pre", Offset: 32, Length: 7, Language: roofKey},
		},
		Buttons: [][]gateway.Button{
			{{Text: "open " + roofKey, Data: "a:1"}, {Text: "page", URL: "https://example.org/" + roofKey}}, {{Text: "page", URL: "https://a:secret@example.org/"}},
		},
		Document: &gateway.Document{Name: roofKey + ".txt", Content: "the key is " + roofKey},
	}
	before := gateway.Part{Text: part.Text, Entities: slices.Clone(part.Entities), Buttons: [][]gateway.Button{slices.Clone(part.Buttons[0]), slices.Clone(part.Buttons[1])}, Document: &gateway.Document{Name: part.Document.Name, Content: part.Document.Content}}
	want := gateway.Part{
		Text: "😀 bold [redacted] code ***.",
		Entities: []gateway.Entity{
			{Type: "bold", Offset: 0, Length: 7}, {Type: "italic", Offset: 19, Length: 4},
			{Type: "text_link", Offset: 19, Length: 4, URL: "https://example.org"}, {Type: "pre", Offset: 24, Length: 3, Language: redact.Mask},
		},
		Buttons:  [][]gateway.Button{{{Text: "open [redacted]", Data: "a:1"}}},
		Document: &gateway.Document{Name: "[redacted].txt", Content: "the key is [redacted]"},
	}
	if _, err := g.Send(t.Context(), to, part); err != nil {
		t.Fatal(err)
	}
	if err := g.Edit(t.Context(), to, 1, part); err != nil {
		t.Fatal(err)
	}
	if err := g.Draft(t.Context(), to, 1, part); err != nil {
		t.Fatal(err)
	}
	if err := g.Answer(t.Context(), to, "query", "the key is "+roofKey); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]gateway.Part{want, want, want}, w.shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"the key is [redacted]"}, w.toasts); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, part); diff != "" {
		t.Errorf("the part of the sender was changed:\n%s", diff)
	}
}

func TestSecretOverSeveralParts(t *testing.T) {
	_, g := roof(t)
	var got []string
	for _, p := range g.Render("telegram", "a sk-key-of\n\n-the-\n\nroof b\n\nsk-key-of is none, and that is it") {
		got = append(got, p.Text)
	}
	if diff := cmp.Diff([]string{"a ***", "***", " b", "sk-key-of is none, and that is it"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"the answer is sk-key-o": "the answer is ", "sk-key-o": "", "first, short\n\nand more sk-key": "first, short",
		"first sk-key-\n\nof-th": "first ", "a text that ends": "a text that ends",
	} {
		p, ok := g.Growing("telegram", text)
		if p.Text != want || ok != (want != "") {
			t.Errorf("Growing(%q) = %q, %v; want %q", text, p.Text, ok, want)
		}
	}
}

// What a tool works on is one short line without secrets, for listed chats only.
func TestWorkIsShownInOneShortLine(t *testing.T) {
	w, g := roof(t)
	to := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}
	for detail, want := range map[string]string{
		"du -sh notes": "du -sh notes",
		"curl -H 'X-Key: " + roofKey + "'\nls -l": "curl -H 'X-Key: [redacted]' ls -l",
		"a\x1b[2Jb\u202ec":                        "a\ufffd[2Jb\ufffdc",
		strings.Repeat("x", 50) + roofKey:         strings.Repeat("x", 50) + "[redacted]",
		strings.Repeat("я", 100):                  strings.Repeat("я", 59) + "…",
	} {
		w.work = nil
		if err := g.Work(t.Context(), to, gateway.Work{Kind: gateway.WorkTool, Tool: "shell", Detail: detail}); err != nil {
			t.Fatal(err)
		}
		if len(w.work) != 1 || w.work[0].Detail != want || w.work[0].Tool != "shell" {
			t.Errorf("%q is shown as %+v, want %q", detail, w.work, want)
		}
	}
	stranger := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 12}}
	if err := g.Work(t.Context(), stranger, gateway.Work{}); err == nil {
		t.Error("a chat that is not listed is shown what the bot does")
	}
}

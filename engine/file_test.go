package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/internal/modeltest"
	"klawbot/tools"
)

// drawing is a tool that hands a picture over.
type drawing struct{ content string }

func (drawing) Spec() tools.Spec {
	return tools.Spec{Name: "draw", Texts: map[string]tools.Text{tools.English: {Description: "Draws.", Parameters: []byte(`{"type":"object","properties":{}}`)}}}
}

func (d drawing) Run(_ context.Context, c tools.Call) tools.Result {
	dir, err := c.Scratch()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "chart.png"), []byte(d.content), 0o600)
	}
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	r := tools.OK("drawn")
	r.Artifacts = []tools.Artifact{{Path: "chart.png"}}
	return r
}

const chart = "\x89PNG\r\n\x1a\n\x00 a chart"

// received waits for a file in a chat and returns the part that carries it.
func (h *house) received(chat int64, name string) gateway.Part {
	h.t.Helper()
	var found gateway.Part
	arrived := h.messenger.wait(10*time.Second, func() bool {
		h.messenger.mu.Lock()
		defer h.messenger.mu.Unlock()
		for _, s := range h.messenger.shown {
			if s.to.Chat.ID == chat && s.part.Document != nil && s.part.Document.Name == name {
				found = s.part
			}
		}
		return found.Document != nil
	})
	if !arrived {
		h.t.Fatalf("chat %d has no file %s: %q", chat, name, h.messenger.texts(chat))
	}
	return found
}

// holds fails when a part's file is another one.
func (h *house) holds(p gateway.Part, content string) {
	h.t.Helper()
	body, size, err := p.Document.Open()
	if err != nil {
		h.t.Fatal(err)
	}
	defer body.Close()
	got := make([]byte, size)
	if _, err := body.ReadAt(got, 0); err != nil || string(got) != content || p.Document.Size != size {
		h.t.Errorf("the file holds %q, want %q, %v", got, content, err)
	}
}

func TestSentFileIsADocumentOfItsOwn(t *testing.T) {
	for name, content := range map[string]string{"report.csv": "a,b\n1,2\n", "picture.png": chart, "archive.bin": "\x00\xff" + strings.Repeat("x", 3<<20)} {
		h := build(t)
		h.put(name, content)
		h.model.Push(modeltest.CallTool("send_file", map[string]string{"path": name, "caption": "The *numbers*"}), modeltest.Text("Sent."))
		h.start()
		h.says(alice, "send it")
		p := h.received(alice, name)
		h.holds(p, content)
		if p.Text != "The *numbers*" {
			t.Errorf("the caption is %q", p.Text)
		}
	}
}

func TestCaptionThatIsTooLongIsAMessage(t *testing.T) {
	h := build(t)
	h.put("a.txt", "x")
	caption := strings.Repeat("😀", 600) // 1,200 units
	h.model.Push(modeltest.CallTool("send_file", map[string]string{"path": "a.txt", "caption": caption}), modeltest.Text("Sent."))
	h.settings.Streaming = nil
	h.start()
	h.says(alice, "send it")
	if !h.messenger.wait(10*time.Second, func() bool { return len(h.messenger.texts(alice)) == 3 }) {
		t.Fatalf("the chat shows %q", h.messenger.texts(alice))
	}
	// The pieces that the model's answer came in have cut an emoji.
	if texts := h.messenger.texts(alice); texts[0] != "" || !strings.HasPrefix(texts[1], caption[:400]) || texts[2] != "Sent." {
		t.Errorf("the chat shows %q", texts)
	}
}

func TestArtifactsFollowTheAnswer(t *testing.T) {
	h := build(t)
	h.tools = append(h.tools, drawing{chart})
	h.model.Push(modeltest.CallTool("draw", nil), modeltest.CallTool("draw", nil), modeltest.Text("Here is the chart."))
	h.start()
	h.says(alice, "draw it")
	h.holds(h.received(alice, "chart.png"), chart)
	h.shows(alice, "Here is the chart.", "") // once, though it was drawn twice
	if left, err := os.ReadDir(filepath.Join(h.dir, "scratch")); err != nil || len(left) != 0 {
		t.Errorf("the scratch directory holds %v, %v", left, err)
	}
	requests := h.model.Completions()
	if text := string(requests[len(requests)-1].Last().Content); !strings.Contains(text, "(chart.png goes to the chat with your answer)") {
		t.Error("the model was not told")
	}
}

func TestResumedTurnSendsTheFilesThatItHas(t *testing.T) {
	h := build(t)
	h.settings.Streaming = nil
	h.tools = append(h.tools, drawing{chart})
	asked, goOn := make(chan struct{}), make(chan struct{})
	var round atomic.Int64
	h.model.Respond(func(modeltest.Request) modeltest.Reply {
		switch round.Add(1) {
		case 1:
			return modeltest.CallTool("draw", nil)
		case 2:
			close(asked)
			<-goOn
		}
		return modeltest.Text("Here is the chart.")
	})
	h.start()
	h.says(alice, "draw it")
	<-asked
	h.end() // parks the turn between the result and the answer
	close(goOn)
	h.tools = slices.DeleteFunc(h.tools, func(t tools.Tool) bool { return t.Spec().Name == "draw" })
	h.start()
	h.holds(h.received(alice, "chart.png"), chart)
	h.shows(alice, "Here is the chart.", "")
}

func TestFileThatIsRejectedOrGoneIsSaidSo(t *testing.T) {
	for name, spoil := range map[string]func(h *house){
		"rejected": func(h *house) {
			h.messenger.fail = func(call string) *gateway.SendError {
				if call == "send telegram_11 look" {
					return &gateway.SendError{Kind: gateway.Rejected, Err: errors.New("file is too big")}
				}
				return nil
			}
		},
		"gone": func(h *house) {
			if err := os.RemoveAll(filepath.Join(h.dir, "outgoing")); err != nil {
				h.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			h.settings.Streaming = nil
			h.put("a.bin", "\x00\xff")
			hold := make(chan struct{})
			h.messenger.hold = hold
			stored := make(chan struct{})
			var round atomic.Int64
			h.model.Respond(func(modeltest.Request) modeltest.Reply {
				if round.Add(1) == 1 {
					return modeltest.CallTool("send_file", map[string]string{"path": "a.bin", "caption": "look"})
				}
				close(stored)
				return modeltest.Text("Sent.")
			})
			h.start()
			h.says(alice, "/help") // its answer is held, and the chat with it
			h.says(alice, "send it")
			<-stored
			spoil(h)
			h.messenger.mu.Lock()
			h.messenger.hold = nil
			h.messenger.mu.Unlock()
			close(hold)
			if !h.messenger.wait(10*time.Second, func() bool {
				return slices.ContainsFunc(h.messenger.texts(alice), func(s string) bool {
					return s == "look\n\n📄 I couldn't send a.bin. Please tell the owner."
				})
			}) {
				t.Errorf("the chat shows %q", h.messenger.texts(alice))
			}
		})
	}
}

func TestFileThatMayHaveArrivedIsSaidSo(t *testing.T) {
	h := build(t)
	h.settings.Streaming = nil
	h.put("a.bin", "\x00\xff")
	h.messenger.fail = func(call string) *gateway.SendError {
		if strings.Contains(call, "look") && !strings.Contains(call, "know whether") {
			return &gateway.SendError{Kind: gateway.Ambiguous, Err: errors.New("reset")}
		}
		return nil
	}
	h.model.Push(modeltest.CallTool("send_file", map[string]string{"path": "a.bin", "caption": "look"}), modeltest.Text("Sent."))
	h.start()
	h.says(alice, "send it")
	if !h.messenger.wait(20*time.Second, func() bool {
		return slices.ContainsFunc(h.messenger.texts(alice), func(s string) bool { return strings.HasSuffix(s, "📄 I don't know whether a.bin arrived.") })
	}) {
		t.Errorf("the chat shows %q", h.messenger.texts(alice))
	}
}

func TestSentAndLeftFilesAreSwept(t *testing.T) {
	h := build(t)
	old := time.Now().Add(-25 * time.Hour)
	sum := strings.Repeat("0a", 32)
	for name, gone := range map[string]bool{"outgoing/" + sum: true, "outgoing/" + strings.Repeat("0b", 32): false, "scratch/klawbot-call-1/f": true, "scratch/klawbot-call-2/f": false} {
		path := filepath.Join(h.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "scratch") {
			path = filepath.Dir(path)
		}
		if gone {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.echo()
	h.start()
	h.says(alice, "hello")
	h.shows(alice, "re: hello")
	left := func() (all []string) {
		for _, pattern := range []string{"outgoing/*", "scratch/*"} {
			found, err := filepath.Glob(filepath.Join(h.dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				all = append(all, filepath.Base(f)[:2])
			}
		}
		return all
	}
	deadline := time.After(busy * 10 * time.Second)
	for len(left()) > 2 {
		select {
		case <-deadline:
			t.Fatalf("%v is left", left())
		case <-time.After(20 * time.Millisecond):
		}
	}
	if got := left(); !slices.Equal(got, []string{"0b", "kl"}) {
		t.Errorf("%v is left", got)
	}
}

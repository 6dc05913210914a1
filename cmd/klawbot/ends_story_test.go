package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// failures are answers of a model with which something is wrong.
func failures() map[string]modeltest.Reply {
	ends := func(finish, text string) modeltest.Reply { return modeltest.Reply{Finish: finish, Text: text} }
	body := func(kind, text string) modeltest.Reply { return modeltest.Reply{ContentType: kind, Body: text} }
	call := func(name, arguments string) modeltest.Reply {
		return modeltest.Reply{Calls: []modeltest.Call{{Name: name, Arguments: arguments}}}
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	return map[string]modeltest.Reply{
		"empty": {}, "blank": modeltest.Text(" \n\t "), "nul inside": modeltest.Text("a\x00b"),
		"empty fence": modeltest.Text("```\n```"), "only marks": modeltest.Text("**"), "only a rule": modeltest.Text("---"),
		"deep quote": modeltest.Text(strings.Repeat(">", 5000) + " x"), "brackets": modeltest.Text(strings.Repeat("[", 20_000)),
		"short lines": modeltest.Text(strings.Repeat("x\n", 10_000)),

		"bad request": modeltest.Error(400, "bad "+canaryKey), "bad key": modeltest.Error(401, "Incorrect API key provided: "+canaryKey),
		"no money": modeltest.Error(402, "pay"), "forbidden": modeltest.Error(403, "no "+canaryKey), "no model": modeltest.Error(404, "model not found"),
		"too large": modeltest.Error(413, "too large"), "too many": modeltest.RateLimited(time.Second), "broken": modeltest.Error(500, "boom "+canaryKey),
		"proxy page": modeltest.HTML(502), "login page": body("text/html", "<html>"+canaryKey), "redirect": {Status: 302, ContentType: "text/plain", Body: "x"},
		"empty object": body("application/json", "{}"), "null": body("application/json", "null"), "no choices": body("application/json", `{"choices":[]}`),
		"bare end":  body("text/event-stream", "data: [DONE]\n\n"),
		"not utf-8": body("text/event-stream", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),

		"reset before": {Fault: modeltest.ResetBefore}, "reset after": {Text: "hello my friend", Fault: modeltest.ResetAfter},
		"truncated": {Text: "hello my friend", Fault: modeltest.Truncate}, "malformed": {Text: "hello my friend", Fault: modeltest.Malformed},
		"cut": ends("length", "half a"), "cut at once": ends("length", ""), "filtered": ends("content_filter", ""), "odd end": ends("weird", "fine"),

		"unknown tool": call("no_such_tool", "{}"), "no tool": call("", "{}"), "no json": call("file_read", "{not json"), "array": call("file_read", "[1,2]"),
		"null arguments": call("file_read", "null"), "no arguments": call("current_time", ""), "deep arguments": call("file_read", `{"path":`+deep+`}`),
	}
}

// TestEveryTurnEndsVisibly lets a model fail in each way that the fake knows.
// The person reads an answer or one sentence every time, and never the key.
func TestEveryTurnEndsVisibly(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, streaming := range []string{"edit", "off"} {
		t.Run(streaming, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, streaming, owner)
			all := failures()
			r.model.Respond(func(q modeltest.Request) modeltest.Reply {
				name, _, _ := strings.Cut(q.LastUser(), "\n")
				if q.Last().Role == "tool" {
					return modeltest.Text("tool: " + q.Last().Text())
				}
				return all[strings.TrimSpace(name)]
			})
			b := r.start("")
			for name := range all {
				before := said(r.telegram.Messages(owner))
				r.telegram.User(owner).Send(name)
				r.wait(b, strconv.Quote(name)+" ends", func(v telegramtest.State) bool {
					now := v.Messages(owner)
					return said(now) > before && now[len(now)-1].Text != "…"
				})
			}
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			for _, m := range r.telegram.Messages(owner) {
				if strings.Contains(m.Text, canaryKey) {
					t.Errorf("the person read the key: %q", m.Text)
				}
			}
			if strings.Contains(b.log.String(), canaryKey) {
				t.Errorf("the log holds the key:\n%s", tailOf(b.log.String()))
			}
		})
	}
}

// said counts what the bot shows, placeholders left out.
func said(all []telegramtest.Message) int {
	n := 0
	for _, m := range all {
		if m.Bot && !m.Deleted && m.Text != "…" {
			n++
		}
	}
	return n
}

// TestAnswersOutlastAnOutage lets the edit that brings the answer fail three
// times, before and after its effect. The answer comes, and comes once.
func TestAnswersOutlastAnOutage(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, kind := range []telegramtest.FaultKind{telegramtest.FaultHTML, telegramtest.FaultError, telegramtest.FaultReset, telegramtest.FaultMalformed} {
		for _, effect := range []bool{false, true} {
			t.Run(string(kind)+"/effect="+strconv.FormatBool(effect), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "edit", owner)
				r.model.Respond(func(modeltest.Request) modeltest.Reply {
					return modeltest.Reply{Text: "OK", Delay: time.Second} // there is a placeholder to edit
				})
				r.telegram.Fault(telegramtest.Fault{Method: "editMessageText", Kind: kind, Effect: effect, Times: 3})
				b := r.start("")
				r.telegram.User(owner).Send("hello")
				// The fourth edit is the one that is answered.
				r.wait(b, "the answer is edited in", func(v telegramtest.State) bool {
					return v.Count("editMessageText") >= 4 && shows(v, owner, "OK")
				})
				if code := b.stop(); code != 0 {
					t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
				}
				if n := said(r.telegram.Messages(owner)); n != 1 {
					t.Errorf("the bot said %d things, want one\n%s", n, r.telegram.Transcript(owner))
				}
			})
		}
	}
}

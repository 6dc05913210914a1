package main

import (
	"strings"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// firstRequests are the requests of a first "hi" with the shipped workspace, by how many
// tools the model sees and by language, as "auto en".
func firstRequests(t testing.TB, shows ...string) map[string][]byte {
	bodies := map[string][]byte{}
	for _, language := range []string{"en", "ru"} {
		for _, show := range shows {
			r := newRigAt(t, 0, "off", 11)
			r.edit("contextBudget: 32000", "contextBudget: 32000, tools: "+show)
			r.edit("agent: {", "tools: {search: {backend: searxng, url: \"http://127.0.0.1:1\"}}\nmemory: {embedding: {type: \"off\"}}\nagent: {language: "+language+", ")
			p := r.start("")
			r.telegram.User(11).Send("hi")
			r.wait(p, "the answer", func(v telegramtest.State) bool { return v.Count("sendMessage") > 0 })
			bodies[show+" "+language] = r.model.Completions()[0].Body
			p.stop()
		}
	}
	return bodies
}

// TestFirstRequestIsSmall holds the first request to bytes; make bench counts the tokens.
func TestFirstRequestIsSmall(t *testing.T) {
	began := time.Now()
	for name, body := range firstRequests(t, "auto", "few") {
		most := map[string]int{"auto en": 13_000, "auto ru": 22_000, "few en": 7_000, "few ru": 10_000}[name]
		t.Logf("%s: %d bytes", name, len(body))
		if len(body) > most {
			t.Errorf("%s: the first request has %d bytes, at most %d are wanted", name, len(body), most)
		}
		if strings.Contains(string(body), "not known yet") {
			t.Errorf("%s: the model reads the lines of a template that was not filled in", name)
		}
	}
	t.Log(time.Since(began))
}

package web_test

import (
	"strings"
	"testing"
	"time"

	"klawbot/gateway"
)

// TestFinalAnswerStays: an answer that grows is kept at the moment at which a page looks.
// The page keeps the final one, and shows no older text in its place.
func TestFinalAnswerStays(t *testing.T) {
	here := gateway.Address{Chat: gateway.ChatID{Channel: "web"}}
	for name, kept := range map[string]func(s *site, edit func(text string, yield bool), until func(text string)){
		"after its rows were read": func(s *site, edit func(string, bool), until func(string)) {
			s.desk.hook(&s.desk.read, func() { edit("all", false) })
			edit("two", true)
			until("all")
		},
		"before its preview ends": func(s *site, edit func(string, bool), until func(string)) {
			s.desk.hook(&s.desk.kept, func() {
				until("event: row")
				_ = s.Work(t.Context(), here, gateway.Work{Kind: gateway.WorkThinking, Since: time.Now()}) // a look later
				until("event: work")
			})
			edit("two", true)
			edit("all", false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			lines := s.listen(t, s.signIn(t), "")
			var seen []string
			until := func(text string) {
				for line := range lines {
					if seen = append(seen, line); strings.Contains(line, text) {
						return
					}
				}
				t.Errorf("the stream has ended before %q", text)
			}
			until(": klawbot")
			id, err := s.Send(t.Context(), here, gateway.Part{Text: "one", Yield: true})
			if err != nil {
				t.Fatal(err)
			}
			until("event: grow")
			kept(s, func(text string, yield bool) {
				if err := s.Edit(t.Context(), here, id, gateway.Part{Text: text, Yield: yield}); err != nil {
					t.Error(err)
				}
			}, until)
			if _, err := s.Send(t.Context(), here, gateway.Part{Key: "next", Text: "next"}); err != nil {
				t.Fatal(err)
			}
			until("next")
			all := strings.Join(seen, "\n")
			if _, behind, _ := strings.Cut(all, "event: row"); strings.Contains(behind, "event: grow") || strings.Contains(all, "event: gone") {
				t.Errorf("the page is told\n%s", all)
			}
		})
	}
}

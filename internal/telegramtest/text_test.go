package telegramtest_test

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"klawbot/internal/telegramtest"
)

type ent = telegramtest.Entity

func bold(offset, length int) []ent { return []ent{{Type: "bold", Offset: offset, Length: length}} }

func TestTextsThatAreRefused(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	longLink := []ent{}
	for i := range 100 {
		longLink = append(longLink, ent{Type: "text_link", Offset: i, Length: 1, URL: "http://a.b/" + strings.Repeat("x", 90)})
	}
	for _, test := range []struct {
		text     string
		entities []ent
		want     string
	}{
		{"", nil, "message text is empty"},
		{" \n\t ", nil, "text must be non-empty"},
		{strings.Repeat("x", 4097), nil, "message is too long"},
		{strings.Repeat("😀", 2049), nil, "message is too long"},
		{strings.Repeat("x", 32769), nil, "text is too long"},
		{"x😀y", bold(2, 1), "entity begins in a middle of a UTF-16 symbol at byte offset 5"},
		{"x😀y", bold(0, 2), "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 5"},
		{"😀", bold(0, 1), "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 4"},
		{"hello", bold(100, 1), "entity begins after the end of the text at UTF-16 offset 100"},
		{"hello", bold(0, 100), "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 100"},
		{"hello", bold(5, 1), "entity beginning at UTF-16 offset 5 ends after the end of the text at UTF-16 offset 6"},
		{"hello", append(bold(4, 2), bold(9, 9)...), "entity begins after the end of the text at UTF-16 offset 9"},
		{"hello", bold(-1, 2), "receive an entity with incorrect offset -1"},
		{"hello", bold(0, -2), "receive an entity with incorrect length -2"},
		{"hello", bold(2000000, 1), "receive an entity with incorrect offset 2000000"},
		{"hello", []ent{{Type: "shiny", Length: 1}}, "can't parse MessageEntity: Unsupported type specified"},
		{"hello", []ent{{Type: "text_link", Length: 1, URL: "/foo"}}, "entity URL '/foo' is invalid: URL host is empty"},
		{"hello", []ent{{Type: "text_mention", Length: 1, User: &telegramtest.User{ID: 9}}}, "user not found"},
		{strings.Repeat("x", 100), longLink, "ENTITIES_TOO_LONG"},
	} {
		c.refused("sendMessage", obj{"chat_id": alice, "text": test.text, "entities": test.entities}, 400, "Bad Request: "+test.want)
	}
	c.refused("sendMessage", obj{"chat_id": alice, "text": "x", "entities": "[1"}, 400, "Bad Request: can't parse entities JSON object")
}

func TestTextsThatAreTaken(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	for _, test := range []struct {
		name, text string
		entities   []ent
		want       string
		kept       []ent
	}{
		{"4096 units", strings.Repeat("😀", 2048), nil, strings.Repeat("😀", 2048), nil},
		{"blanks around", " \n a b \n", nil, "a b", nil},
		{"blanks inside an entity stay", "  ab  ", bold(0, 6), "  ab", bold(0, 4)},
		{"blanks before an entity go", "  ab  ", bold(2, 4), "ab", bold(0, 2)},
		{"control characters", "a\x00b\tc", nil, "a b c", nil},
		{"carriage returns move entities", "a\r\nb", bold(3, 1), "a\nb", bold(2, 1)},
		{"empty entities go", "ab", bold(1, 0), "ab", nil},
		{"entities behind the end of the text go", "ab  ", bold(3, 1), "ab", nil},
		{"crossing entities", "hello", []ent{{Type: "bold", Length: 3}, {Type: "italic", Offset: 2, Length: 3}}, "hello",
			[]ent{{Type: "bold", Length: 3}, {Type: "italic", Offset: 2, Length: 3}}},
		{"what Telegram finds itself is ignored", "@abc", []ent{{Type: "mention", Length: 4}}, "@abc", nil},
	} {
		id := c.send(obj{"text": test.text, "entities": test.entities})
		m, _ := message(s, alice, id)
		if m.Text != test.want || len(m.Entities) != len(test.kept) {
			t.Errorf("%s: got %q %v", test.name, m.Text, m.Entities)
			continue
		}
		for i, e := range test.kept {
			if m.Entities[i] != e {
				t.Errorf("%s: entity %d is %+v, want %+v", test.name, i, m.Entities[i], e)
			}
		}
	}
}

func message(s *telegramtest.Server, chat, id int64) (m telegramtest.Message, ok bool) {
	s.View(func(v telegramtest.State) { m, ok = v.Message(chat, id) })
	return m, ok
}

func TestEntitiesBeyondTheHundredthAreDropped(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	var all []ent
	for i := range 120 {
		kind := "bold"
		if i >= 100 {
			kind = "code"
		}
		all = append(all, ent{Type: kind, Offset: 2 * i, Length: 1})
	}
	m, _ := message(s, alice, c.send(obj{"text": strings.Repeat("x ", 120), "entities": all}))
	if len(m.Entities) != 100 || m.Entities[99].Type != "code" || m.Entities[79].Type != "bold" {
		t.Errorf("%d entities are left: %+v", len(m.Entities), m.Entities)
	}
}

// The links and the answers were recorded from TDLib 1.8.65.
func TestLinks(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	const (
		noHost = "URL host is empty"
		char   = "Disallowed character in URL host"
		port   = "Wrong port number specified in the URL"
		scheme = "Unsupported URL protocol"
		wrong  = "Wrong HTTP URL"
		ipv6   = "Wrong IPv6 address specified in the URL"
	)
	for link, fault := range map[string]string{
		"http://a.b": "", "https://a.b/c d": "", "mailto:a@b.c": "", "tel:+123": port, "tel:123456": port,
		"tg://resolve?domain=x": "", "tg:resolve?domain=x": "", "ftp://a.b": scheme, "localhost": wrong,
		"http://localhost:80": wrong, "http://127.0.0.1:80/": "", "/foo": noHost, "foo bar": char, "": noHost,
		"example.com": "", "example.com/x": "", "javascript:alert(1)": port, "javascript:a.b": port,
		"http://[::1]:80/": "", "http://": noHost, "http://a b.c": char, "file:///etc/passwd": scheme,
		"#frag": noHost, "http://пример.рф/я": "", "http://a_b.c": "", "HTTP://A.B": "",
		"http://a.b:99999/": port, "ton://x.y": "Unallowed characters in URL host", "http://user:p@a.b": "",
		"//a.b": noHost, "mailto:x": port, "http://.": "Host is invalid", "http://a.": "",
		"data:text/plain,x": port, "http://a%20b.c/": "", "tonsite://a.ton": "", "http://exa$mple.com": "",
		"http://a;b.c": "", "http://a.b?x=1#y": "", "https://a.b:80a/": port, "magnet:?xt=1.2": port,
		"[::1]": "", "http://a@[::1]": "", "[x]": ipv6, "[]": ipv6, "http://[::1": char, "[::1]x": char, "[": char,
		"tonsite://x": "", "tonsite:x": "", "tonsite://": noHost, "tg:": noHost, "tg://a b": char, "http://a%2.c": "Wrong percent-encoded symbol in URL host",
	} {
		params := obj{"chat_id": alice, "text": "x", "entities": []obj{{"type": "text_link", "offset": 0, "length": 1, "url": link}}}
		if fault != "" {
			c.refused("sendMessage", params, 400, "Bad Request: entity URL '"+link+"' is invalid: "+fault)
		} else if r := c.call("sendMessage", params); !r.OK {
			t.Errorf("%q: %s", link, r.Description)
		}
	}
}

func TestEncodings(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	form := url.Values{"chat_id": {"42"}, "text": {"as a form"}, "reply_markup": {`{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}`}}
	var parts bytes.Buffer
	w := multipart.NewWriter(&parts)
	for name, v := range map[string]string{"chat_id": "42", "text": "as parts"} {
		if err := w.WriteField(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const bad = "text=a%ffb&chat_id=42"
	for _, test := range []struct{ kind, body, want string }{
		{"application/x-www-form-urlencoded", form.Encode(), `"text":"as a form"`},
		{w.FormDataContentType(), parts.String(), `"text":"as parts"`},
		{"application/json", `{"chat_id":"42","text":"as JSON","entities":null}`, `"text":"as JSON"`},
		{"application/json", `{"chat_id":42,"text":"a` + "\xff" + `b"}`, "Bad Request: strings must be encoded in UTF-8"},
		{"application/x-www-form-urlencoded", bad, "Bad Request: strings must be encoded in UTF-8"},
		{"application/json", `{"chat_id"`, "Bad Request: can't parse JSON object"},
		{"", "", "Bad Request: message text is empty"},
	} {
		resp, err := c.http.Post(c.base+"sendMessage", test.kind, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		_, err = got.ReadFrom(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(got.String(), test.want) {
			t.Errorf("%s %q: %s, %v", test.kind, test.body, got.String(), err)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

var drawn = regexp.MustCompile(`^(\d+)x(\d+)\.png$`)

// fileOf is a file of the story, as the fake Telegram has it.
func fileOf(ts *testscript.TestScript, name string) string {
	data, err := os.ReadFile(ts.MkAbs(name))
	if size := drawn.FindStringSubmatch(name); os.IsNotExist(err) && size != nil {
		var b bytes.Buffer
		ts.Check(png.Encode(&b, image.NewGray(image.Rect(0, 0, int(number(ts, size[1])), int(number(ts, size[2]))))))
		data, err = b.Bytes(), nil
	}
	ts.Check(err)
	return fakesOf(ts).telegram.AddFile(telegramtest.File{Name: filepath.Base(name), Data: data})
}

// sender is the person of a command and what follows; a negative number is a group.
func sender(ts *testscript.TestScript, args []string) (telegramtest.Person, []string) {
	f := fakesOf(ts)
	person, rest := f.telegram.User(number(ts, args[0])), args[1:]
	if group, err := strconv.ParseInt(rest[0], 10, 64); err == nil && group < 0 {
		f.telegram.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Group"}, telegramtest.Open)
		person, rest = person.In(group), rest[1:]
	}
	return person, rest
}

func sendFile(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 3)
	person, rest := sender(ts, args)
	d := telegramtest.Draft{Text: strings.Join(rest[2:], " "), Seconds: 7}
	if rest[0] == "forward" {
		d.Forward, rest = "Mallory", rest[1:]
		d.Text = strings.Join(rest[2:], " ")
	}
	if rest[0] == "long" {
		d.Seconds, rest = 3*60*60, rest[1:]
		d.Text = strings.Join(rest[2:], " ")
	}
	if rest[0] == "voice" {
		d.MIME = "audio/ogg"
	}
	ts.Check(d.Attach(rest[0], func() string { return fileOf(ts, rest[1]) }))
	person.Post(d)
}

func sendAlbum(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 4)
	person, rest := sender(ts, args)
	var drafts []telegramtest.Draft
	for i, name := range rest[:len(rest)-1] {
		d := telegramtest.Draft{Photo: fileOf(ts, name)}
		if i == 1 {
			d.Text = rest[len(rest)-1]
		}
		drafts = append(drafts, d)
	}
	person.PostAlbum(drafts...)
}

func seen(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, false, args, 1)
	all := fakesOf(ts).model.Completions()
	if len(all) == 0 {
		ts.Fatalf("the model was not asked")
	}
	last := all[len(all)-1]
	var text strings.Builder
	for _, m := range last.Messages[1:] {
		fmt.Fprintf(&text, "%s: %s\n", m.Role, contentOf(m))
	}
	for _, p := range last.Pictures() {
		fmt.Fprintf(&text, "<%s>\n", p)
	}
	if regexp.MustCompile(args[0]).MatchString(text.String()) == neg {
		ts.Fatalf("the model saw:\n%s", text.String())
	}
}

// contentOf is the text of a message, also of one with pictures.
func contentOf(m modeltest.Message) string {
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return m.Text()
	}
	var all string
	for _, p := range parts {
		all += p.Text
	}
	return all
}

func called(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	f, want := fakesOf(ts), number(ts, args[1])
	eventually(ts, func() (bool, string) {
		n := int64(f.telegram.Count(args[0]))
		if n > want {
			ts.Fatalf("%s was called %d times, want %d", args[0], n, want)
		}
		return n == want, fmt.Sprintf("%s was called %d times, want %d", args[0], n, want)
	})
}

func refuse(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	fakesOf(ts).telegram.Fault(telegramtest.Fault{Method: args[0], Kind: telegramtest.FaultError, Status: http.StatusBadRequest, Description: args[1]})
}

func startEars(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what was sent does not matter
		_ = json.NewEncoder(w).Encode(map[string]string{"text": args[0]})
	}))
	ts.Defer(s.Close)
	ts.Setenv("EARS_URL", s.URL+"/v1")
}

// startMouth is a server that speaks, as one second of Opus.
func startMouth(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	f, file := fakesOf(ts), ""
	if args[0] != "none" {
		file = ts.MkAbs(args[0])
	}
	if f.mouth.Swap(&file) != nil {
		return
	}
	ogg, err := os.ReadFile(filepath.Join("..", "..", "engine", "internal", "sound", "testdata", "tone.opus"))
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		to := *f.mouth.Load()
		if to == "" || os.WriteFile(to, []byte(asked.Input), 0o600) != nil {
			http.Error(w, "no voice", http.StatusBadRequest)
			return
		}
		_, _ = w.Write(ogg)
	}))
	ts.Defer(s.Close)
	ts.Setenv("MOUTH_URL", s.URL+"/v1")
}

func forbidVoice(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	fakesOf(ts).telegram.ForbidVoice(number(ts, args[0]))
}

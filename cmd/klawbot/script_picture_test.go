package main

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"klawbot/internal/telegramtest"
)

// picturesDir names the folder for pages of chats; scripts/picture sets it.
const picturesDir = "KLAWBOT_PICTURES"

// shownMessage is a message as the page of a chat shows it.
type shownMessage struct {
	Out, Quote  bool // sent by the person; shown as a quotation
	Text        string
	Photo       template.URL
	File, Voice string
	Time        string
}

// chatPage shows a chat on a phone.
var chatPage = template.Must(template.New("chat").Parse(`<!DOCTYPE html><meta charset="utf-8"><title>chat</title><style>
body{margin:0;width:420px;background:#d5e3ea;font:15px/1.35 "DejaVu Sans",sans-serif;color:#111}
.head{background:#517da2;color:#fff;padding:10px 16px;font-weight:bold}
.head small{display:block;font-weight:normal;font-size:12px;opacity:.8}
.chat{padding:10px;display:flex;flex-direction:column;gap:6px}
.m{max-width:310px;background:#fff;border-radius:12px;padding:7px 10px;white-space:pre-wrap;align-self:flex-start;box-shadow:0 1px 1px #0002}
.out{background:#e3fccb;align-self:flex-end}
.m img{width:250px;height:120px;object-fit:cover;object-position:0 0;border-radius:8px;display:block;margin:0 0 5px}
.file{color:#2d6ca2;font-weight:bold;display:block}
.quote{border-left:3px solid #517da2;padding-left:7px;display:block;background:#517da211}
.t{font-size:11px;color:#789;float:right;margin:6px 0 0 8px}
</style><div class="head">klawbot<small>bot</small></div><div class="chat">
{{range .}}<div class="m{{if .Out}} out{{end}}">{{if .Photo}}<img src="{{.Photo}}">{{end}}{{if .Voice}}<span class="file">▶ ▁▂▅▃▇▅▂▆▃▁▂▃ {{.Voice}}</span>{{end}}{{if .File}}<span class="file">📄 {{.File}}</span>{{end}}<span{{if .Quote}} class="quote"{{end}}>{{.Text}}</span><span class="t">{{.Time}}</span></div>
{{end}}</div>
`))

// showChat writes a chat as a page into the folder for pages, or into that of the story.
func showChat(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	f := fakesOf(ts)
	var all []shownMessage
	for _, m := range f.telegram.Messages(number(ts, args[0])) {
		if !m.Deleted {
			all = append(all, shownOf(f.telegram, m))
		}
	}
	dir := os.Getenv(picturesDir)
	if dir == "" {
		dir = ts.MkAbs(".")
	}
	out, err := os.Create(filepath.Join(dir, args[1]))
	ts.Check(err)
	defer out.Close()
	ts.Check(chatPage.Execute(out, all))
}

func shownOf(s *telegramtest.Server, m telegramtest.Message) shownMessage {
	b := shownMessage{Out: !m.Bot, Text: m.Text, Time: m.Date.UTC().Format("15:04")}
	for _, e := range m.Entities {
		b.Quote = b.Quote || strings.HasSuffix(e.Type, "blockquote")
	}
	switch {
	case m.Photo != "":
		data := s.Document(m.Photo).Data
		b.Photo = template.URL("data:" + http.DetectContentType(data) + ";base64," + base64.StdEncoding.EncodeToString(data))
	case m.Document != "":
		b.File = s.Document(m.Document).Name
	case m.Voice != "":
		b.Voice = fmt.Sprintf("%d:%02d", m.Seconds/60, m.Seconds%60)
	}
	return b
}

//go:build oracle

package telegram

import (
	"bufio"
	"encoding/json"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
)

// oracleScript answers with what Telegram's own library says of a text: whether
// it takes our entities, and what it reads from the same text as HTML.
const oracleScript = `
const tdl = require('tdl'), { getTdjson } = require('prebuilt-tdlib');
tdl.configure({ tdjson: getTdjson(), verbosityLevel: 0 });
const type = e => ({ bold: 'Bold', italic: 'Italic', strikethrough: 'Strikethrough', code: 'Code', text_link: 'TextUrl',
  blockquote: 'BlockQuote', expandable_blockquote: 'ExpandableBlockQuote', pre: e.language ? 'PreCode' : 'Pre' })[e.type];
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const q = JSON.parse(line);
  const a = tdl.execute({ _: 'getMarkdownText', text: { _: 'formattedText', text: q.text, entities: q.entities.map(e => ({
    _: 'textEntity', offset: e.offset, length: e.length, type: { _: 'textEntityType' + type(e), url: e.url, language: e.language } })) } });
  const b = tdl.execute({ _: 'parseTextEntities', text: q.html, parse_mode: { _: 'textParseModeHTML' } });
  console.log(JSON.stringify({
    fault: [a, b].filter(x => x._ === 'error').map(x => x.message).join('; '), text: b.text,
    entities: (b.entities || []).map(e => ({ type: e.type._.slice('textEntityType'.length), offset: e.offset, length: e.length })) }));
});`

type oracleQuestion struct {
	Text     string           `json:"text"`
	Entities []gateway.Entity `json:"entities"`
	HTML     string           `json:"html"`
}

type oracleEntity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

type oracleAnswer struct {
	Fault    string         `json:"fault"`
	Text     string         `json:"text"`
	Entities []oracleEntity `json:"entities"`
}

// oracle is a running TDLib. KLAWBOT_TDLIB names a folder where
// "npm i tdl@8.1.0 prebuilt-tdlib@0.1008065.0" was run.
type oracle struct {
	in  *json.Encoder
	out *bufio.Reader
}

func startOracle(t *testing.T) oracle {
	t.Helper()
	folder := os.Getenv("KLAWBOT_TDLIB")
	if folder == "" {
		t.Fatal("set KLAWBOT_TDLIB to the folder that holds node_modules")
	}
	cmd := exec.Command("node", "-e", oracleScript)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(folder, "node_modules"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return oracle{json.NewEncoder(in), bufio.NewReader(out)}
}

func (o oracle) ask(t *testing.T, p gateway.Part) oracleAnswer {
	t.Helper()
	if err := o.in.Encode(oracleQuestion{p.Text, append([]gateway.Entity{}, p.Entities...), htmlOf(p)}); err != nil {
		t.Fatal(err)
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var a oracleAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// htmlOf writes a part as Telegram's HTML.
func htmlOf(p gateway.Part) string {
	units := utf16.Encode([]rune(p.Text))
	var b strings.Builder
	var open []gateway.Entity
	at := 0
	text := func(to int) {
		b.WriteString(html.EscapeString(string(utf16.Decode(units[at:to]))))
		at = to
	}
	closeUntil := func(to int) {
		for len(open) > 0 && open[len(open)-1].Offset+open[len(open)-1].Length <= to {
			e := open[len(open)-1]
			text(e.Offset + e.Length)
			b.WriteString(tags(e).end)
			open = open[:len(open)-1]
		}
	}
	for _, e := range p.Entities {
		closeUntil(e.Offset)
		text(e.Offset)
		b.WriteString(tags(e).start)
		open = append(open, e)
	}
	closeUntil(len(units))
	text(len(units))
	return b.String()
}

type tagPair struct{ start, end string }

func tags(e gateway.Entity) tagPair {
	switch {
	case e.Type == textLink:
		return tagPair{`<a href="` + html.EscapeString(e.URL) + `">`, "</a>"}
	case e.Type == longQuote:
		return tagPair{"<blockquote expandable>", "</blockquote>"}
	case e.Type == pre && e.Language != "":
		return tagPair{`<pre><code class="language-` + e.Language + `">`, "</code></pre>"}
	}
	name := map[string]string{bold: "b", italic: "i", strikethrough: "s", code: "code", pre: "pre", quote: "blockquote"}[e.Type]
	return tagPair{"<" + name + ">", "</" + name + ">"}
}

func oracleType(e gateway.Entity) string {
	if e.Type == pre && e.Language != "" {
		return "PreCode"
	}
	return map[string]string{
		bold: "Bold", italic: "Italic", strikethrough: "Strikethrough", code: "Code", pre: "Pre",
		textLink: "TextUrl", quote: "BlockQuote", longQuote: "ExpandableBlockQuote",
	}[e.Type]
}

// checkOracle asks Telegram's library about each part: it must take it as it
// is, and read the same entities, in the same order, from the same thing in HTML.
func checkOracle(t *testing.T, o oracle, markdown string) int {
	t.Helper()
	parts := Render(markdown)
	for _, p := range parts {
		a := o.ask(t, p)
		want := []oracleEntity{}
		for _, e := range p.Entities {
			want = append(want, oracleEntity{oracleType(e), e.Offset, e.Length})
		}
		if a.Fault != "" || a.Text != p.Text || !cmp.Equal(want, a.Entities) {
			t.Errorf("Render(%q): fault %q\n%s\nentities (-ours +Telegram's):\n%s", markdown, a.Fault, showPart(p), cmp.Diff(want, a.Entities))
		}
	}
	return len(parts)
}

func TestOracleSeeds(t *testing.T) {
	o := startOracle(t)
	for _, s := range fuzzSeeds() {
		checkOracle(t, o, s)
		checkOracle(t, o, strings.Repeat(s, 90))
	}
	for _, text := range hostileTexts(20_000) {
		checkOracle(t, o, text)
	}
	checkOracle(t, o, answer(64<<10))
}

// TestOracleRandom puts pieces of Markdown together at random, always the same.
func TestOracleRandom(t *testing.T) {
	o := startOracle(t)
	random := rand.New(rand.NewPCG(1, 2))
	parts := 0
	for range 5000 {
		var b strings.Builder
		for range 1 + random.IntN(60) {
			b.WriteString(oraclePieces[random.IntN(len(oraclePieces))])
		}
		parts += checkOracle(t, o, strings.Repeat(b.String(), 1+random.IntN(30)))
		if t.Failed() {
			break
		}
	}
	t.Logf("%d parts", parts)
}

var oraclePieces = []string{
	"*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "```go\n", "\n```\n", "[", "]", "](https://a.b/c)", "](tg://resolve?domain=x)", "](/x)", "](http://localhost)", "](<a b>)", "(", ")", "![", "!",
	"<", ">", "<b>", "</b>", "<br>", "&lt;", "&", "&#128512;", "\\", "\\*", "|", "\n|---|---|\n", "\n| a | b |\n|---|---|\n| **c** | 😀 |\n", "\n\n", "\n", "\n", "  \n", " ", " ", " ", "    ", "\t",
	"\n# ", "\n> ", "\n> > ", "\n- ", "\n  - ", "\n1. ", "\n   2) ", "- [x] ", "\n---\n", "\n===\n", "a", "word", "слово", "漢字", "😀", "👨‍👩‍👧", "🇩🇪", "e\u0301", "\u200b", "\u00a0", "\u3164", "\ufe0f", "\u2028",
	".", "?", "https://a.b/_c_", "<https://d.e>", "<f@g.h>", "snake_case", "__init__.py", "2*3*4", "[x](https://a.b/)", "**bold**", "*it*", "`code`", "\n\n    indented\n", "[r]", "\n\n[r]: https://r.s\n\n",
	"x.y:80", "@name", "#tag", "/command", "\n> 1\n> 2\n> 3\n> 4\n> 5\n> 6\n> 7\n> 8\n> 9\n", "\r\n", "\x00", "\xff",
}

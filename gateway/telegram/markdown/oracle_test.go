//go:build oracle

package markdown

import (
	"bufio"
	"encoding/json"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
)

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

// oracle is a running TDLib. ORACLE_DIR names the folder that "make oracle"
// installed it into.
type oracle struct {
	in  *json.Encoder
	out *bufio.Reader
}

func startOracle(t *testing.T) oracle {
	t.Helper()
	folder := os.Getenv("ORACLE_DIR")
	if folder == "" {
		t.Fatal("run make oracle: it installs Telegram's library and sets ORACLE_DIR")
	}
	cmd := exec.Command("node", filepath.Join("testdata", "oracle", "oracle.js"))
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
	var a oracleAnswer
	o.exchange(t, oracleQuestion{p.Text, append([]gateway.Entity{}, p.Entities...), htmlOf(p)}, &a)
	return a
}

func (o oracle) exchange(t *testing.T, q oracleQuestion, a *oracleAnswer) {
	t.Helper()
	if err := o.in.Encode(q); err != nil {
		t.Fatal(err)
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, a); err != nil {
		t.Fatal(err)
	}
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
// is, and read the same entities, in the same order, from the same thing in
// HTML. The parts together must be the whole text.
func checkOracle(t *testing.T, o oracle, markdown string) int {
	t.Helper()
	parts := messages(markdown)
	checkSplit(t, renderRich(markdown), parts)
	for _, p := range parts {
		a := o.ask(t, p)
		want := []oracleEntity{}
		for _, e := range p.Entities {
			want = append(want, oracleEntity{oracleType(e), e.Offset, e.Length})
		}
		if a.Fault != "" || a.Text != p.Text || !cmp.Equal(want, a.Entities) {
			t.Errorf("messages(%q): fault %q\n%s\nentities (-ours +Telegram's):\n%s", markdown, a.Fault, showPart(p), cmp.Diff(want, a.Entities))
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

// TestOracleRejects shows that the judge can say no.
func TestOracleRejects(t *testing.T) {
	o := startOracle(t)
	for _, p := range []gateway.Part{
		{Text: "a", Entities: []gateway.Entity{{Type: textLink, Length: 1, URL: "/x y"}}},
		{Text: "😀", Entities: []gateway.Entity{{Type: bold, Offset: 1, Length: 1}}},
		{Text: "a", Entities: []gateway.Entity{{Type: bold, Length: 2}}},
	} {
		var a oracleAnswer
		o.exchange(t, oracleQuestion{p.Text, p.Entities, ""}, &a)
		if a.Fault == "" {
			t.Errorf("%+v is taken", p)
		}
	}
}

// TestOracleRandom puts ORACLE documents together at random, from ORACLE_SEED
// on: document n is always the same, so "ORACLE_SEED=n ORACLE=1" repeats one.
func TestOracleRandom(t *testing.T) {
	o := startOracle(t)
	seed, documents := oracleNumber(t, "ORACLE_SEED", 1), oracleNumber(t, "ORACLE", 1000)
	parts := 0
	for n := seed; n < seed+documents; n++ {
		parts += checkOracle(t, o, document(n))
		if t.Failed() {
			t.Fatalf("ORACLE_SEED=%d ORACLE=1 repeats it", n)
		}
	}
	t.Logf("ORACLE_SEED=%d ORACLE=%d: %d parts, 0 rejected", seed, documents, parts)
}

// TestOracleLinks puts addresses together at random: Telegram must take for a
// link whatever we take for one.
func TestOracleLinks(t *testing.T) {
	o := startOracle(t)
	random := rand.New(rand.NewPCG(oracleNumber(t, "ORACLE_SEED", 1), 3))
	links := 0
	for range 20 * oracleNumber(t, "ORACLE", 1000) {
		address := []string{"https://", "http://", "tg://", "HTTPS://"}[random.IntN(4)]
		for range 1 + random.IntN(6) {
			address += linkPieces[random.IntN(len(linkPieces))]
		}
		if !linkable(address) {
			continue
		}
		links++
		a := o.ask(t, gateway.Part{Text: "a", Entities: []gateway.Entity{{Type: textLink, Length: 1, URL: address}}})
		if a.Fault != "" || len(a.Entities) != 1 {
			t.Errorf("%q is refused: %q %v", address, a.Fault, a.Entities)
		}
	}
	t.Logf("%d links", links)
	if links == 0 {
		t.Error("no address was a link")
	}
}

var linkPieces = []string{
	"a", "b.c", "example.org", "A", "x-y", "_", "-", ".", ":", ":80", ":0", ":65535", "1.2.3.4", "[::1]", "/", "//", "/p", "?", "?q=1", "&", "#", "#f", "=", "%20", "%zz", "%", "@", "u:p@", "~", "+", ",", ";", "!",
	"$", "'", "(", ")", "*", "[", "]", "|", "\\", "пример", ".рф", "漢字.jp", "ß", "😀", "\u200d", "\u00ad", "١", "ⅷ", "localhost", "..", "resolve", "domain=x", "xn--", "0x7f", "999.1.1.1", "1", ".1",
}

func oracleNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// document is a text of pieces of Markdown, or every third time an ordinary
// answer with damage in a few places. Some are long, for the borders of parts.
func document(n uint64) string {
	random := rand.New(rand.NewPCG(n, 2))
	if n%3 == 0 {
		return damaged(random, answer(1+random.IntN(12<<10)))
	}
	var b strings.Builder
	for range 1 + random.IntN(60) {
		b.WriteString(oraclePieces[random.IntN(len(oraclePieces))])
	}
	return strings.Repeat(b.String(), 1+random.IntN(30))
}

// damaged puts pieces over the text, cuts bytes out and repeats others.
func damaged(random *rand.Rand, text string) string {
	for range 1 + random.IntN(20) {
		from := random.IntN(len(text))
		to := min(len(text), from+random.IntN(40))
		switch random.IntN(3) {
		case 0:
			text = text[:from] + oraclePieces[random.IntN(len(oraclePieces))] + text[to:]
		case 1:
			text = text[:from] + text[from:to] + text[from:]
		case 2:
			text = text[:from] + text[to:] + "."
		}
	}
	return text
}

var oraclePieces = []string{
	"*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "```go\n", "\n```\n", "[", "]", "](https://a.b/c)", "](tg://resolve?domain=x)", "](/x)", "](http://localhost)", "](<a b>)", "(", ")", "![", "!",
	"<", ">", "<b>", "</b>", "<br>", "&lt;", "&", "&#128512;", "\\", "\\*", "|", "\n|---|---|\n", "\n| a | b |\n|---|---|\n| **c** | 😀 |\n", "\n\n", "\n", "\n", "  \n", " ", " ", " ", "    ", "\t",
	"\n# ", "\n> ", "\n> > ", "\n- ", "\n  - ", "\n1. ", "\n   2) ", "- [x] ", "\n---\n", "\n===\n", "a", "word", "слово", "漢字", "😀", "👨‍👩‍👧", "🇩🇪", "e\u0301", "\u200b", "\u00a0", "\u3164", "\ufe0f", "\u2028",
	".", "?", "https://a.b/_c_", "<https://d.e>", "<f@g.h>", "snake_case", "__init__.py", "2*3*4", "[x](https://a.b/)", "**bold**", "*it*", "`code`", "\n\n    indented\n", "[r]", "\n\n[r]: https://r.s\n\n",
	"x.y:80", "@name", "#tag", "/command", "\n> 1\n> 2\n> 3\n> 4\n> 5\n> 6\n> 7\n> 8\n> 9\n", "\r\n", "\x00", "\xff",
}

package markdown

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"klawbot/gateway"
	"klawbot/gateway/console"
	"klawbot/internal/redact"
	"klawbot/whitelist"
)

// hidingSecrets are a key of two words and a password that is too short to be found in
// pieces.
var hidingSecrets = []string{"sk-canary_Q7f.9zXw-44kk", "hunter2-!pw"}

// doors is a gateway to a channel that only renders, and to the console.
func doors(t testing.TB) *gateway.Gateway {
	t.Helper()
	secrets := new(redact.Set)
	secrets.Add(hidingSecrets...)
	g, err := gateway.New(gateway.Config{
		Channels: []gateway.Channel{&renderer{}, console.New(console.Config{Log: slog.New(slog.DiscardHandler)})},
		Redact:   secrets, Log: slog.New(slog.DiscardHandler), Whitelist: func() whitelist.List { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// renderer is the channel without the network.
type renderer struct{ gateway.Channel }

func (*renderer) Name() string                                { return "telegram" }
func (*renderer) Render(markdown string) []gateway.Part       { return messages(markdown) }
func (*renderer) Health() gateway.Health                      { return gateway.Health{} }
func (*renderer) Serve(context.Context, gateway.Accept) error { return nil }

// inline are the ways to write a piece of a line.
var inline = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return "**" + s + "**" },
	func(s string) string { return "*" + s + "*" },
	func(s string) string { return "__" + s + "__" },
	func(s string) string { return "`" + s + "`" },
	func(s string) string { return "`` " + s + " ``" },
	func(s string) string { return "~~" + s + "~~" },
	func(s string) string { return "||" + s + "||" },
	func(s string) string { return "[" + s + "](https://example.org/a)" },
	func(s string) string { return "![" + s + "](https://example.org/a.png)" },
	func(s string) string { return "<" + s + ">" },
	func(s string) string { return "<b>" + s + "</b>" },
	func(s string) string { return s + "\u200b" },
	func(s string) string { return "\u2060" + s + "\u00ad" },
	func(s string) string { return s + "\\\n" },
	func(s string) string { return s + "\n" },
	func(s string) string { return s + "<!-- -->" },
	func(s string) string { // as entities
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, "&#%d;", r)
		}
		return b.String()
	},
	func(s string) string { // with escapes
		var b strings.Builder
		for _, r := range s {
			if unicode.IsPunct(r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	},
}

// blocks are what pieces can stand in.
var blocks = []func(pieces []string) string{
	func(p []string) string { return strings.Join(p, "") },
	func(p []string) string { return "# " + strings.Join(p, "") },
	func(p []string) string { return "> " + strings.Join(p, "\n> ") },
	func(p []string) string { return "- " + strings.Join(p, "\n- ") },
	func(p []string) string { return "- [ ] " + strings.Join(p, "\n  - ") },
	func(p []string) string {
		return "| " + strings.Join(p, " | ") + " |\n|" + strings.Repeat("---|", len(p)) + "\n| a |\n"
	},
	func(p []string) string { return "```" + p[0] + "\n" + strings.Join(p, "") + "\n```" },
	func(p []string) string { return "    " + strings.Join(p, "") },
	func(p []string) string {
		return "[link](https://example.org/?q=" + url.QueryEscape(strings.Join(p, "")) + ")"
	},
	func(p []string) string {
		return "[link][1] " + p[0] + "\n\n[1]: https://example.org/" + strings.Join(p, "")
	},
}

// hide writes a secret in pieces.
func hide(random *rand.Rand, secret string) string {
	var pieces []string
	for rest := secret; rest != ""; {
		n := 1 + random.IntN(len(rest))
		piece := rest[:n]
		for range random.IntN(3) {
			piece = inline[random.IntN(len(inline))](piece)
		}
		pieces, rest = append(pieces, piece), rest[n:]
	}
	return blocks[random.IntN(len(blocks))](pieces)
}

// visible is what a reader sees of a text.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, text)
}

func alphanumeric(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// leaks says where a secret can be read in a part, "" for nowhere.
func leaks(p gateway.Part, secret string) string {
	long := len(alphanumeric(secret)) >= 12
	see := func(text string) bool {
		return strings.Contains(visible(text), secret) || long && strings.Contains(alphanumeric(visible(text)), alphanumeric(secret))
	}
	if see(p.Text) {
		return "text " + p.Text
	}
	for _, e := range p.Entities {
		if address, err := url.PathUnescape(e.URL); see(e.URL) || err == nil && see(address) {
			return "address " + e.URL
		}
		if see(e.Language) {
			return "language " + e.Language
		}
	}
	return ""
}

func checkNoLeak(t *testing.T, g *gateway.Gateway, channel, text, secret string) {
	t.Helper()
	parts := g.Render(channel, text)
	whole := gateway.Part{}
	for _, p := range parts {
		whole.Text += p.Text + "\n"
		whole.Entities = append(whole.Entities, p.Entities...)
		if channel == "telegram" {
			checkPart(t, p)
		}
	}
	if where := leaks(whole, secret); where != "" {
		t.Errorf("%s: %q leaks in the %s", channel, text, where)
	}
	for end := range len(text) {
		if p, ok := g.Growing(channel, text[:end]); ok {
			if where := leaks(p, secret); where != "" {
				t.Fatalf("%s: the preview of %q leaks in the %s", channel, text[:end], where)
			}
		}
	}
}

// TestNoMarkdownLetsSecretThrough writes secrets in all kinds of Markdown. The long
// form has more texts.
func TestNoMarkdownLetsSecretThrough(t *testing.T) { noMarkdownLetsSecretThrough(t, 100) }

func noMarkdownLetsSecretThrough(t *testing.T, texts int) {
	g := doors(t)
	random := rand.New(rand.NewPCG(13, 7))
	leaky := 0
	for range texts {
		secret := hidingSecrets[random.IntN(len(hidingSecrets))]
		text := "It is " + hide(random, secret) + " and **that** is all."
		if leaks(gateway.Part{Text: messages(text)[0].Text}, secret) != "" {
			leaky++
		}
		checkNoLeak(t, g, "telegram", text, secret)
		checkNoLeak(t, g, "console", text, secret)
		if t.Failed() {
			return
		}
	}
	if leaky < texts*3/10 {
		t.Errorf("only %d of the texts show a secret when nothing masks it", leaky)
	}
}

func FuzzMasked(f *testing.F) {
	f.Add("before ", " after", uint64(1))
	f.Add("- a\n- ", "\n\n| b |\n|---|", uint64(2))
	f.Add(strings.Repeat("word ", 818), " after", uint64(3))
	f.Add(strings.Repeat("w", 4086), strings.Repeat("x", 5000), uint64(4))
	f.Fuzz(func(t *testing.T, before, after string, seed uint64) {
		if len(before)+len(after) > 40<<10 {
			return
		}
		g := doors(t)
		random := rand.New(rand.NewPCG(seed, 1))
		for _, secret := range hidingSecrets {
			text := before + hide(random, secret) + after
			for _, p := range g.Render("telegram", text) {
				checkPart(t, p)
				if where := leaks(p, secret); where != "" {
					t.Errorf("%q leaks in the %s", text, where)
				}
			}
		}
	})
}

package prompt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
)

// photos is a message with so many pictures.
func photos(name string, n int) llm.Message {
	m := llm.Text(llm.RoleUser, name)
	for i := range n {
		m.Blocks = append(m.Blocks, llm.Block{Image: &llm.Image{Sum: fmt.Sprintf("%s%d", name, i), Width: 750, Height: 100, Label: fmt.Sprintf("photo inbox/%s%d.jpg", name, i)}})
	}
	return m
}

// read is what a model reads of messages: their texts, and the pictures in < >.
func read(msgs []llm.Message) string {
	var parts []string
	for _, m := range msgs {
		for _, b := range m.Blocks {
			switch {
			case b.Image != nil:
				parts = append(parts, "<"+b.Image.Sum+">")
			case b.Result != nil:
				parts = append(parts, b.Result.Text)
				for _, i := range b.Result.Images {
					parts = append(parts, "<"+i.Sum+">")
				}
			default:
				parts = append(parts, b.Text)
			}
		}
	}
	return strings.Join(parts, " ")
}

func earlier(name string) string {
	return "[photo inbox/" + name + ".jpg, seen earlier; image_look shows it]"
}

func TestOldestImagesLeaveFirst(t *testing.T) {
	one := []llm.Message{photos("a", 1), photos("b", 1), photos("c", 1), photos("d", 1), photos("e", 1)}
	result := llm.Message{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &llm.ToolResult{Text: "shot", Images: []llm.Image{{Sum: "s", Width: 9, Height: 9, Label: "screenshot.png"}}}}}}
	for _, c := range []struct {
		name         string
		msgs         []llm.Message
		most, tokens int
		want         string
	}{
		{"all fit", one[:4], 4, 1000, "a <a0> b <b0> c <c0> d <d0>"},
		{"half leaves", one, 4, 1000, "a " + earlier("a0") + " b " + earlier("b0") + " c <c0> d <d0> e <e0>"},
		{"tokens", one[:3], 4, 250, "a " + earlier("a0") + " b <b0> c <c0>"},
		{"nothing fits", one[:1], 4, 50, "a [photo inbox/a0.jpg, not shown; image_look shows it]"},
		{"no bound of the number", one, 0, 1000, "a <a0> b <b0> c <c0> d <d0> e <e0>"},
		{"an album that is too large", []llm.Message{photos("a", 3)}, 2, 1000, "a [photo inbox/a0.jpg, not shown; image_look shows it] <a1> <a2>"},
		{"a result without a path", []llm.Message{result, photos("a", 1)}, 1, 1000, "shot\n[screenshot.png, seen earlier] a <a0>"},
	} {
		if got := read(images(c.msgs, c.most, c.tokens)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestImagesStayAsTheyWereRead: a message changes only when pictures leave, and those
// leave by halves, so that most requests begin like the one before.
func TestImagesStayAsTheyWereRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var msgs []llm.Message
		changes, pictures, before := 0, 0, ""
		for i := range 12 {
			n := r.IntN(2)
			pictures += n
			msgs = append(msgs, photos(string(rune('a'+i)), n))
			got := read(images(msgs, 4, 1000))
			if !strings.HasPrefix(got, before) {
				changes++
			}
			if shown := strings.Count(got, "<"); shown > 4 || shown < min(pictures, 3) {
				t.Fatalf("%d of %d pictures are shown: %s", shown, pictures, got)
			}
			before = got
		}
		if most := max(pictures-3, 0) / 2; changes > most {
			t.Errorf("%d pictures: %d changes, at most %d are needed", pictures, changes, most)
		}
		if again := images(images(msgs, 4, 1000), 4, 1000); read(again) != before {
			t.Errorf("not the same a second time: %s", read(again))
		}
	}
}

package llm

import (
	"context"
	"iter"
	"slices"
)

// Image is a picture in a message. Its bytes are a JPEG or PNG in the store of files.
type Image struct {
	// Sum is the SHA-256 of the bytes, in hexadecimal.
	Sum    string `json:"sum"`
	MIME   string `json:"mime"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Label stands in brackets where the picture is not shown: "photo inbox/1/a.jpg".
	Label string `json:"label"`
}

// Seer is a Provider that knows, or finds out without a completion, whether a model takes
// pictures.
type Seer interface {
	// Sees returns known false where nothing says it.
	Sees(ctx context.Context, model string) (yes, known bool)
}

// InPlace is what a model reads in place of a picture; note says why, "" for nothing.
func (i Image) InPlace(note string) string {
	label := i.Label
	if label == "" {
		label = "picture"
	}
	if note != "" {
		label += ", " + note
	}
	return "[" + label + "]"
}

// tokens is about what the picture takes.
func (i Image) tokens() int { return max(i.Width*i.Height/750, 85) }

// Pictures are the pictures of messages, in order.
func Pictures(msgs []Message) iter.Seq[Image] {
	return func(yield func(Image) bool) {
		for _, m := range msgs {
			for _, b := range m.Blocks {
				if b.Image != nil && !yield(*b.Image) {
					return
				}
				if b.Result == nil {
					continue
				}
				for _, i := range b.Result.Images {
					if !yield(i) {
						return
					}
				}
			}
		}
	}
}

// HasPictures reports whether messages have pictures.
func HasPictures(msgs []Message) bool {
	for range Pictures(msgs) {
		return true
	}
	return false
}

// EstimateImages is about how many tokens the pictures of messages take.
func EstimateImages(msgs []Message) (n int) {
	for i := range Pictures(msgs) {
		n += i.tokens()
	}
	return n
}

// ReplaceImages is messages with words in place of pictures. It asks about each, in
// order; "" keeps the picture. The messages that it gets stay as they are.
func ReplaceImages(msgs []Message, words func(Image) string) []Message {
	out := slices.Clone(msgs)
	for i, m := range out {
		if HasPictures(out[i : i+1]) {
			out[i].Blocks = replaceImages(m.Blocks, words)
		}
	}
	return out
}

func replaceImages(blocks []Block, words func(Image) string) []Block {
	out := slices.Clone(blocks)
	for i, b := range out {
		if b.Image != nil {
			if text := words(*b.Image); text != "" {
				out[i] = Block{Text: text}
			}
		}
		if b.Result == nil || len(b.Result.Images) == 0 {
			continue
		}
		r := *b.Result
		r.Images = nil
		for _, image := range b.Result.Images {
			if text := words(image); text == "" {
				r.Images = append(r.Images, image)
			} else {
				r.Text += "\n" + text
			}
		}
		out[i].Result = &r
	}
	return out
}

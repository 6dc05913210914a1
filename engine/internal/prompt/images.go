package prompt

import (
	"strings"

	"klawbot/engine/internal/llm"
)

// ImageLook is the tool that shows a picture again.
const ImageLook = "image_look"

// shownPicture is a picture that a request shows so far.
type shownPicture struct {
	// index counts the pictures of the messages; message is the one that it is in.
	index, message, tokens int
}

// images are messages with no more pictures than a model gets: no more than most, and no
// more than so many tokens of them. Where one is too many, the older half of what is
// shown leaves in one step. That is decided from the beginning on, so that a message
// reads the same in the next request, and providers find it in their caches.
func images(msgs []llm.Message, most, tokens int) []llm.Message {
	var shown []shownPicture
	sum, index, gone := 0, 0, map[int]string{}
	for at := range msgs {
		for i := range llm.Pictures(msgs[at : at+1]) {
			p := shownPicture{index, at, llm.EstimateImages([]llm.Message{{Blocks: []llm.Block{{Image: &i}}}})}
			index++
			shown, sum = append(shown, p), sum+p.tokens
			for len(shown) > 0 && (most > 0 && len(shown) > most || sum > tokens) {
				half := max(len(shown)/2, 1)
				for _, old := range shown[:half] {
					gone[old.index] = leftOut(old.message == at)
					sum -= old.tokens
				}
				shown = shown[half:]
			}
		}
	}
	if len(gone) == 0 {
		return msgs
	}
	index = 0
	return llm.ReplaceImages(msgs, func(i llm.Image) string {
		why := gone[index]
		index++
		if why == "" {
			return ""
		}
		if strings.Contains(i.Label, "/") { // it is a file that the tool can open
			why += "; " + ImageLook + " shows it"
		}
		return i.InPlace(why)
	})
}

// leftOut says why a picture is not shown. One of many in a new message never was.
func leftOut(isNew bool) string {
	if isNew {
		return "not shown"
	}
	return "seen earlier"
}

// images are messages as a model with a window of so many tokens gets them: pictures take
// no more than a third of it.
func (w *Window) images(msgs []llm.Message, window int) []llm.Message {
	return images(msgs, w.in.Settings.Media.Images.MaxPerRequest, window/3)
}

// imagesFor are messages as a model gets them, by its configured name.
func (w *Window) imagesFor(msgs []llm.Message, modelName string) []llm.Message {
	_, m := w.builder.config.Settings().Models.For(modelName)
	return w.images(msgs, m.Window())
}

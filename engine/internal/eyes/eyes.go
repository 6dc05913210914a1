// Package eyes shows models the pictures that tools bring: it keeps a fit copy of each,
// and answers questions about pictures with the model that sees, or with the words in
// them. Pictures of messages are package media's.
package eyes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/media"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/picture"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/tools"
	toolmedia "klawbot/tools/media"
)

// Config is what New needs. All of it is required, but for Read.
type Config struct {
	Store    *store.Store
	Files    *media.Files
	Models   *model.Client
	Settings func() settings.Settings
	// Model is the model that answers in a chat.
	Model func(ctx context.Context, chat string) (name string, m settings.Model)
	// Read returns the words in a picture, "" for none; nil: nothing reads them.
	Read func(ctx context.Context, file string) (string, error)
	Log  *slog.Logger
}

// Eyes looks at pictures. It may be used by several goroutines at once.
type Eyes struct{ Config }

// New returns Eyes.
func New(c Config) *Eyes { return &Eyes{c} }

// Keep keeps a copy of a picture that is fit for models. The error is a *confined.Fault
// for all that the file has caused.
func (e *Eyes) Keep(ctx context.Context, file, label string) (llm.Image, error) {
	p, err := picture.Prepare(ctx, file, e.Settings().Media.Images.MaxSide)
	if err != nil {
		return llm.Image{}, err
	}
	image := llm.Image{MIME: "image/jpeg", Width: p.Width, Height: p.Height, Label: label}
	var size int64
	image.Sum, size, err = e.Files.Put(func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(p.JPEG))
		return err
	})
	if err != nil {
		return image, fmt.Errorf("keep a picture: %w", err)
	}
	return image, e.Store.Write(ctx, func(tx *store.Tx) error {
		return tx.Media().Keep(store.Media{Sum: image.Sum, MIME: image.MIME, Bytes: size})
	})
}

// Look answers a question about a picture, in this order: the model that the owner has
// chosen for it, the model of the chat, the words in the picture.
func (e *Eyes) Look(ctx context.Context, c tools.Call, p toolmedia.Picture) tools.Result {
	image, err := e.Keep(ctx, p.File, "picture "+p.Path)
	if err != nil {
		return e.failure(p, err)
	}
	s := e.Settings()
	if m, ok := s.Models.Entries[s.Media.Vision]; ok {
		answer, err := e.Models.Describe(ctx, c, model.Candidate{Name: s.Media.Vision, Model: m}, p.Question, image)
		switch {
		case err == nil && strings.TrimSpace(answer) != "":
			return tools.OK(strings.TrimSpace(answer))
		case err != nil && !errors.Is(err, model.ErrBlind):
			return tools.Fail(tools.Execution, err.Error())
		}
	}
	name, m := e.Model(ctx, c.Chat)
	if yes, known := e.Models.Sees(ctx, model.Candidate{Name: name, Model: m}); name != "" && (yes || !known) {
		r := tools.OK(filepath.Base(p.Path) + " comes with this result. Your question: " + p.Question)
		r.Images = []tools.Image{tools.Image(image)}
		return r
	}
	if e.Read != nil {
		if words, err := e.Read(ctx, p.File); err == nil && strings.TrimSpace(words) != "" {
			return tools.OK("No model here can see pictures. These are the words in it, as a program read them:\n" + strings.TrimSpace(words))
		}
	}
	return tools.Fail(tools.Execution, "no model here can see pictures")
}

// failure tells the model what is wrong with a picture.
func (e *Eyes) failure(p toolmedia.Picture, err error) tools.Result {
	fault, ok := errors.AsType[*confined.Fault](err)
	if !ok {
		e.Log.Error("picture not read", "err", err)
		return tools.Fail(tools.Execution, fmt.Sprintf("%q could not be read", p.Path))
	}
	switch fault.Kind {
	case confined.TooMuch:
		return tools.Fail(tools.Execution, fmt.Sprintf("%q is too big inside, so it was not opened", p.Path))
	case confined.Broken:
		return tools.Fail(tools.Execution, fmt.Sprintf("%q is damaged, or no jpeg, png, gif or webp", p.Path))
	}
	return tools.Fail(tools.Execution, fmt.Sprintf("%q took too much time or memory", p.Path))
}

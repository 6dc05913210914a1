package gateway

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// AttachmentKind is what an attachment is for the person who sent it.
type AttachmentKind string

// The kinds of attachments.
const (
	AttachPhoto     AttachmentKind = "photo"
	AttachSticker   AttachmentKind = "sticker"
	AttachVoice     AttachmentKind = "voice"
	AttachAudio     AttachmentKind = "audio"
	AttachVideoNote AttachmentKind = "video_note"
	AttachVideo     AttachmentKind = "video"
	AttachAnimation AttachmentKind = "animation"
	AttachDocument  AttachmentKind = "document"
)

// Attachment is a file of a message. All of it but File and Unique is what the sender
// says, and may be wrong.
type Attachment struct {
	Kind AttachmentKind
	// File is what Fetcher.Fetch takes. Unique is the same for the same file for ever.
	File, Unique string
	Name, MIME   string
	// Size is its length in bytes, 0 when unknown.
	Size          int64
	Width, Height int
	Duration      time.Duration
	// Thumb is a still picture of what moves, nil for none.
	Thumb *Attachment
}

// Fetcher is a Channel whose messages may have attachments.
type Fetcher interface {
	// Fetch writes a file to w, at most max bytes of it. It may be repeated with an
	// empty w. The error is a *FetchError, that of w, or ctx's.
	Fetch(ctx context.Context, a Attachment, max int64, w io.Writer) error
}

// FetchFailure is the kind of a FetchError.
type FetchFailure string

// The kinds of failures of fetching, each with what the caller does about it.
const (
	// FetchTooBig: it has more than max bytes, or more than the channel gives away.
	FetchTooBig FetchFailure = "too_big"
	// FetchGone: the channel does not have it, or may not give it away.
	FetchGone FetchFailure = "gone"
	// FetchRetry: it did not come as a whole. Fetch it again after RetryAfter.
	FetchRetry FetchFailure = "retry"
	// FetchStopped: the channel itself does not work.
	FetchStopped FetchFailure = "stopped"
)

// FetchError is the error of Fetch.
type FetchError struct {
	Kind FetchFailure
	// RetryAfter is how long the channel asks to wait, 0 when it does not say.
	RetryAfter time.Duration
	Err        error
}

func (e *FetchError) Error() string { return fmt.Sprintf("%s: %v", e.Kind, e.Err) }

func (e *FetchError) Unwrap() error { return e.Err }

// Typed is the message of a local channel's update: what its one user typed, or a file.
func (u Update) Typed(at time.Time, text string, file *Attachment) Message {
	m := Message{Kind: KindText, Address: u.Address, ID: u.Message, Time: at, Addressed: true, Sender: Sender{ID: u.From, Name: "you"}, Text: text}
	if file != nil {
		m.Attachments, m.Described = []Attachment{*file}, true
		m.Text = strings.TrimSuffix(fmt.Sprintf("[%s %s]\n%s", file.Kind, strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(file.Name), text), "\n")
		return m
	}
	m.Command, m.Args = CommandIn(text)
	return m
}

// Fetch writes an attachment of a stored update to w, at most max bytes. It checks the
// allow list as it is now, also for the author of a quoted message when that is not 0.
func (g *Gateway) Fetch(ctx context.Context, u Update, author int64, a Attachment, max int64, w io.Writer) error {
	err := g.Allowed(u)
	if author != 0 && err == nil {
		u.From, u.FromBot = author, false
		err = g.Allowed(u)
	}
	if err != nil {
		return &FetchError{Kind: FetchGone, Err: err}
	}
	f, ok := g.byName[u.Channel].(Fetcher)
	if !ok {
		return &FetchError{Kind: FetchStopped, Err: fmt.Errorf("channel %q has no files", u.Channel)}
	}
	return f.Fetch(ctx, a, max, w)
}

package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// mostFetches is how often a download is tried.
	mostFetches = 3
	// longestPause is how long a channel may have the bot wait between them.
	longestPause = 30 * time.Second
)

// source is what is downloaded of an attachment: itself, or the still picture of what
// moves; nil for nothing.
func (f *file) source() *gateway.Attachment {
	switch f.Kind {
	case gateway.AttachVideo, gateway.AttachAnimation:
		return f.Thumb
	case gateway.AttachSticker:
		if f.MIME != "image/webp" {
			return f.Thumb
		}
	}
	return &f.Attachment
}

// declared is the outcome of a file that needs no download.
func (m *Media) declared(f *file) (o outcome, ended bool) {
	s := m.Settings()
	from := f.source()
	switch {
	case from == nil:
		return outcome{Label: "[" + m.label(f) + "]"}, true
	case from.Size > s.Media.MaxDownload:
		return m.faulty(f, m.tooBig(f, from.Size)), true
	case !f.sound():
		return o, false
	case m.deaf() != "":
		return m.faulty(f, m.deaf()), true
	case f.Duration > s.Media.Transcription.Longest:
		return m.faulty(f, m.say(locale.MediaTooLong, confined.Clock(f.Duration), confined.Clock(s.Media.Transcription.Longest))), true
	}
	return o, false
}

// fetch downloads a file and keeps it.
func (m *Media) fetch(ctx context.Context, turn store.Turn, f *file) (o outcome, ended bool, err error) {
	from, most := f.source(), m.Settings().Media.MaxDownload
	sum, bytes, err := m.download(ctx, f, *from, most)
	var failed *gateway.FetchError
	switch {
	case ctx.Err() != nil:
		return o, false, context.Cause(ctx)
	case errors.As(err, &failed) && failed.Kind == gateway.FetchTooBig:
		return m.faulty(f, m.tooBig(f, max(from.Size, most+1))), true, nil
	case isFull(err):
		m.Log.Error("file not kept", "chat", turn.Address.String(), "turn", turn.ID, "err", err)
		return m.faulty(f, m.about(f, locale.MediaNoRoom)), true, nil
	case err != nil:
		m.Log.Warn("file not downloaded", "chat", turn.Address.String(), "turn", turn.ID, "err", err)
		return m.faulty(f, m.about(f, locale.MediaGone)), true, nil
	}
	f.row.State, f.row.Sum = store.AttachmentFetched, sum
	err = m.Life.Persist(ctx, turn.Address, func(tx *store.Tx) error {
		if err := tx.Media().Keep(store.Media{Sum: sum, MIME: from.MIME, Bytes: bytes}); err != nil {
			return err
		}
		return tx.Media().SetAttachment(f.row)
	})
	if err != nil {
		return o, false, fmt.Errorf("journal a download: %w", err)
	}
	lifecycle.CrashPoint("media.fetched")
	if err := m.KeepHouse(ctx); err != nil {
		m.Log.Warn("old files not deleted", "err", err)
	}
	return o, false, nil
}

// isFull reports whether an error says that the disk is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// download tries to get a file until it is there or will never be.
func (m *Media) download(ctx context.Context, f *file, from gateway.Attachment, most int64) (sum string, bytes int64, err error) {
	author := int64(0)
	if f.quoted && !f.Message.Reply.Own {
		author = f.Message.Reply.From
	}
	for try := 1; ; try++ {
		sum, bytes, err = m.Files.Put(func(w io.Writer) error { return m.Gateway.Fetch(ctx, f.Row.Update, author, from, most, w) })
		var failed *gateway.FetchError
		if err == nil || ctx.Err() != nil || try == mostFetches || !errors.As(err, &failed) || failed.Kind != gateway.FetchRetry {
			return sum, bytes, err
		}
		wait.For(ctx, min(max(failed.RetryAfter, time.Duration(try)*time.Second), longestPause))
	}
}

// KeepHouse keeps the files within their quota, and deletes what is kept for long enough.
func (m *Media) KeepHouse(ctx context.Context) error {
	s := m.Settings().Media
	return m.Files.Sweep(ctx, m.Store, s.Quota, s.Keep)
}

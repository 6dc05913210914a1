package telegram

import (
	"time"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

// mostSide is how long the sides of a photo need to be at most: models shrink what is
// larger.
const mostSide = 1600

// attachments are the files of a message. Each message has at most one; Telegram sends
// an album as several messages.
func attachments(m *models.Message) []gateway.Attachment {
	a, ok := attachment(m)
	if !ok || a.File == "" {
		return nil
	}
	return []gateway.Attachment{a}
}

func attachment(m *models.Message) (a gateway.Attachment, ok bool) {
	switch {
	case m.Sticker != nil:
		return sticker(m.Sticker), true
	case m.LivePhoto != nil:
		return photo(m.LivePhoto.Photo), true
	case len(m.Photo) > 0:
		return photo(m.Photo), true
	case m.Voice != nil:
		v := m.Voice
		return gateway.Attachment{
			Kind: gateway.AttachVoice, File: v.FileID, Unique: v.FileUniqueID, MIME: v.MimeType, Size: v.FileSize, Duration: seconds(v.Duration),
		}, true
	case m.VideoNote != nil:
		v := m.VideoNote
		return gateway.Attachment{
			Kind: gateway.AttachVideoNote, File: v.FileID, Unique: v.FileUniqueID, MIME: "video/mp4", Size: int64(v.FileSize),
			Width: v.Length, Height: v.Length, Duration: seconds(v.Duration), Thumb: thumb(v.Thumbnail),
		}, true
	case m.Audio != nil:
		v := m.Audio
		return gateway.Attachment{
			Kind: gateway.AttachAudio, File: v.FileID, Unique: v.FileUniqueID, Name: v.FileName, MIME: v.MimeType, Size: v.FileSize,
			Duration: seconds(v.Duration),
		}, true
	case m.Animation != nil: // such a message has a Document, too
		v := m.Animation
		return gateway.Attachment{
			Kind: gateway.AttachAnimation, File: v.FileID, Unique: v.FileUniqueID, Name: v.FileName, MIME: v.MimeType, Size: v.FileSize,
			Width: v.Width, Height: v.Height, Duration: seconds(v.Duration), Thumb: thumb(v.Thumbnail),
		}, true
	case m.Video != nil:
		v := m.Video
		return gateway.Attachment{
			Kind: gateway.AttachVideo, File: v.FileID, Unique: v.FileUniqueID, Name: v.FileName, MIME: v.MimeType, Size: v.FileSize,
			Width: v.Width, Height: v.Height, Duration: seconds(v.Duration), Thumb: thumb(v.Thumbnail),
		}, true
	case m.Document != nil:
		v := m.Document
		return gateway.Attachment{
			Kind: gateway.AttachDocument, File: v.FileID, Unique: v.FileUniqueID, Name: v.FileName, MIME: v.MimeType, Size: v.FileSize,
		}, true
	}
	return a, false
}

// sticker is a picture, or something that moves and has a picture.
func sticker(v *models.Sticker) gateway.Attachment {
	a := gateway.Attachment{
		Kind: gateway.AttachSticker, File: v.FileID, Unique: v.FileUniqueID, MIME: "image/webp", Size: int64(v.FileSize),
		Width: v.Width, Height: v.Height,
	}
	switch {
	case v.IsVideo:
		a.MIME, a.Thumb = "video/webm", thumb(v.Thumbnail)
	case v.IsAnimated:
		a.MIME, a.Thumb = "application/x-tgsticker", thumb(v.Thumbnail)
	}
	return a
}

// photo is the largest size of a photo that is not larger than a model needs, or the
// smallest one.
func photo(sizes []models.PhotoSize) gateway.Attachment {
	var best, smallest models.PhotoSize
	for _, s := range sizes {
		side := max(s.Width, s.Height)
		if side <= mostSide && side >= max(best.Width, best.Height) {
			best = s
		}
		if smallest.FileID == "" || side < max(smallest.Width, smallest.Height) {
			smallest = s
		}
	}
	if best.FileID == "" {
		best = smallest
	}
	return *thumb(&best)
}

func thumb(s *models.PhotoSize) *gateway.Attachment {
	if s == nil {
		return nil
	}
	return &gateway.Attachment{
		Kind: gateway.AttachPhoto, File: s.FileID, Unique: s.FileUniqueID, MIME: "image/jpeg", Size: int64(s.FileSize), Width: s.Width, Height: s.Height,
	}
}

func seconds(n int) time.Duration { return time.Duration(max(n, 0)) * time.Second }

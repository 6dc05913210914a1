package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // photos are measured
	_ "image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

const (
	// uploadTimeout bounds the upload of a file.
	uploadTimeout = 5 * time.Minute
	// maxPhoto is how many bytes a photo may have.
	maxPhoto = 10 << 20
	// maxSides is how long width and height of a photo may be together, and
	// maxRatio how often the one may hold the other.
	maxSides = 10_000
	maxRatio = 20
)

// sendFile sends a part with its document: as a voice message if it says so, as a photo
// where it can be one, else as a file. What Telegram does not take as such goes as a file;
// people can forbid voice messages, and then a text is not spoken.
func (c *Channel) sendFile(ctx context.Context, to gateway.Address, p gateway.Part) (*models.Message, error) {
	body, size, err := p.Document.Open()
	if err != nil {
		return nil, &gateway.SendError{Kind: gateway.Rejected, Err: fmt.Errorf("the file %s cannot be read: %w", p.Document.Name, err)}
	}
	defer body.Close() // nothing is written
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	u := upload{field: "document", name: p.Document.Name, body: body, size: size}
	switch {
	case p.Document.As == gateway.AsVoice:
		u.field = "voice"
	case p.Document.As == "" && photogenic(p.Document.MIME, body, size):
		u.field = "photo"
	}
	sent, err := c.upload(ctx, to, p, u)
	if p.Document.Spoken() && says(err, noVoice) {
		return nil, &gateway.SendError{Kind: gateway.Voiceless, Err: err}
	}
	if u.field == "photo" && says(err, notAPhoto...) || u.field == "voice" && says(err, noVoice) {
		c.log.Info("not taken as it is, sent as a file", "kind", u.field, "chat", to.Chat.String())
		u.field = "document"
		sent, err = c.upload(ctx, to, p, u)
	}
	return sent, err
}

// noVoice is the refusal of people who take no voice messages.
const noVoice = "voice_messages_forbidden"

// notAPhoto are the words by which Telegram refuses a photo that may be a file.
var notAPhoto = []string{"photo", "image_process_failed", "file is too big"}

// photogenic reports whether Telegram shows a file as a photo.
func photogenic(kind string, body io.ReaderAt, size int64) bool {
	if kind != "image/png" && kind != "image/jpeg" || size > maxPhoto {
		return false
	}
	picture, _, err := image.DecodeConfig(io.NewSectionReader(body, 0, size))
	if err != nil {
		return false
	}
	short, long := min(picture.Width, picture.Height), max(picture.Width, picture.Height)
	return short > 0 && short+long <= maxSides && long <= short*maxRatio
}

// upload is a file on its way; field is what the method calls it.
type upload struct {
	field, name string
	body        io.ReaderAt
	size        int64
}

// upload calls sendPhoto, sendVoice or sendDocument. The file is read while it is sent and
// never lies in memory as a whole.
func (c *Channel) upload(ctx context.Context, to gateway.Address, p gateway.Part, u upload) (*models.Message, error) {
	method, f := "sendDocument", fields(to, p)
	switch u.field {
	case "photo":
		method = "sendPhoto"
	case "voice":
		method = "sendVoice"
		if p.Document.Seconds > 0 {
			f["duration"] = int64(p.Document.Seconds)
		}
	}
	sent := new(models.Message)
	return sent, c.send.upload(ctx, method, f, []upload{u}, sent)
}

// fields are the parameters of a part with a file.
func fields(to gateway.Address, p gateway.Part) map[string]any {
	f := map[string]any{"chat_id": to.Chat.ID, "disable_notification": p.Silent}
	if to.Thread != 0 {
		f["message_thread_id"] = to.Thread
	}
	if p.Text != "" {
		f["caption"] = p.Text
	}
	if len(p.Entities) > 0 {
		f["caption_entities"] = entities(p)
	}
	if r := replyTo(to, p); r != nil {
		f["reply_parameters"] = r
	}
	if len(p.Buttons) > 0 {
		f["reply_markup"] = keyboard(p)
	}
	return f
}

// upload posts parameters and files as a form.
func (a *api) upload(ctx context.Context, method string, fields map[string]any, files []upload, result any) error {
	heads, kind, tail, err := form(fields, files)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/bot"+a.token+"/"+method, nil)
	if err != nil {
		return a.redact.Error(fmt.Errorf("%s: %w", method, err))
	}
	r.Header.Set("Content-Type", kind)
	r.ContentLength = int64(len(tail))
	for i, u := range files {
		r.ContentLength += int64(len(heads[i])) + u.size
	}
	r.GetBody = func() (io.ReadCloser, error) {
		var all []io.Reader
		for i, u := range files {
			all = append(all, bytes.NewReader(heads[i]), io.NewSectionReader(u.body, 0, u.size))
		}
		return io.NopCloser(io.MultiReader(append(all, strings.NewReader(tail))...)), nil
	}
	if r.Body, err = r.GetBody(); err != nil {
		return err
	}
	return a.result(r, method, result)
}

// form is what stands before each file in the body of a request, and after the last.
func form(fields map[string]any, files []upload) (heads [][]byte, kind, tail string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, v := range fields {
		value, err := formValue(v)
		if err != nil {
			return nil, "", "", err
		}
		if err := w.WriteField(name, value); err != nil {
			return nil, "", "", err
		}
	}
	for _, u := range files {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", multipart.FileContentDisposition(u.field, clean(u.name)))
		header.Set("Content-Type", "application/octet-stream")
		if _, err := w.CreatePart(header); err != nil {
			return nil, "", "", err
		}
		heads = append(heads, bytes.Clone(b.Bytes()))
		b.Reset()
	}
	return heads, w.FormDataContentType(), "\r\n--" + w.Boundary() + "--\r\n", nil
}

// formValue is a parameter as a field of a form.
func formValue(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

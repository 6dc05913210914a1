package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

// groupItem is a file of sendMediaGroup.
type groupItem struct {
	Type     string                 `json:"type"`
	Media    string                 `json:"media"`
	Caption  string                 `json:"caption,omitempty"`
	Entities []models.MessageEntity `json:"caption_entities,omitempty"`
}

// sendAlbum sends the files of a part as one album, in one call: as photos if all of them
// can be, else as files. Its text stands below the first. It returns the first message.
func (c *Channel) sendAlbum(ctx context.Context, to gateway.Address, p gateway.Part) (*models.Message, error) {
	kind := "photo"
	var files []upload
	for i, d := range p.Album {
		body, size, err := d.Open()
		if err != nil {
			return nil, &gateway.SendError{Kind: gateway.Rejected, Err: fmt.Errorf("the file %s cannot be read: %w", d.Name, err)}
		}
		defer body.Close() // nothing is written
		files = append(files, upload{field: "file" + strconv.Itoa(i), name: d.Name, body: body, size: size})
		if d.As == gateway.AsFile || !photogenic(d.MIME, body, size) {
			kind = "document"
		}
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	sent, err := c.uploadAlbum(ctx, to, p, kind, files)
	if kind == "photo" && says(err, notAPhoto...) {
		c.log.Info("not taken as it is, sent as files", "chat", to.Chat.String())
		sent, err = c.uploadAlbum(ctx, to, p, "document", files)
	}
	return sent, err
}

func (c *Channel) uploadAlbum(ctx context.Context, to gateway.Address, p gateway.Part, kind string, files []upload) (*models.Message, error) {
	group := make([]groupItem, len(files))
	for i, f := range files {
		group[i] = groupItem{Type: kind, Media: "attach://" + f.field}
	}
	// People read the caption of the first photo below all of them, that of a file below it.
	captioned := &group[0]
	if kind == "document" {
		captioned = &group[len(group)-1]
	}
	captioned.Caption, captioned.Entities = p.Text, entities(p)
	p.Text, p.Entities, p.Buttons = "", nil, nil // an album has no buttons
	f := fields(to, p)
	f["media"] = group
	var sent []*models.Message
	if err := c.send.upload(ctx, "sendMediaGroup", f, files, &sent); err != nil {
		return nil, err
	}
	if len(sent) == 0 || sent[0] == nil {
		return nil, &unclearError{err: errors.New("sendMediaGroup: no messages in the answer")}
	}
	return sent[0], nil
}

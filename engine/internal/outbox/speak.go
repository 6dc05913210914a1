package outbox

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
)

// maxSpoken is how much of an answer waits to be spoken, in bytes. Less of it is.
const maxSpoken = 16 << 10

// speakWithin bounds the making of a recording.
const speakWithin = 3 * time.Minute

// AddSpoken adds the row that speaks an answer, where the chat wants to hear answers. The
// courier makes the recording, so a crash repeats that.
func AddSpoken(tx *store.Tx, turn store.Turn, markdown string) error {
	chat := turn.Address.Chat
	on, err := tx.Chats().SpeaksTo(chat.Channel, chat.ID)
	if err != nil || !on || markdown == "" {
		return err
	}
	p := gateway.Part{Document: &gateway.Document{Name: "voice.ogg", MIME: "audio/ogg", As: gateway.AsVoice, Content: clip.Bytes(markdown, maxSpoken)}}
	return tx.Outbox().AddOut(store.Out{Key: fmt.Sprintf("turn/%d/spoken", turn.ID), Turn: turn.ID, Address: turn.Address, Body: Encode(p)})
}

// spoken reports whether a part only says what stands above it.
func spoken(p gateway.Part) bool { return p.Document != nil && p.Document.Spoken() }

// speak makes the recording of a text that is to be spoken, unless there is one.
func (d *Outbox) speak(ctx context.Context, o *store.Out, p *gateway.Part) error {
	if !spoken(*p) || p.Document.Sum != "" {
		return nil
	}
	lifecycle.CrashPoint("outbox.speaking")
	within, cancel := context.WithTimeout(ctx, speakWithin)
	defer cancel()
	made, length, err := d.recording(within, *p.Document)
	switch {
	case err != nil && ctx.Err() != nil: // the bot stops
		return &gateway.SendError{Kind: gateway.Retry, Err: err}
	case err != nil:
		return &gateway.SendError{Kind: gateway.Rejected, Err: fmt.Errorf("speak an answer: %w", err)}
	}
	made.As, made.Content, made.Seconds = gateway.AsVoice, p.Document.Content, max(int(length.Round(time.Second).Seconds()), 1)
	p.Document, o.Body = made, Encode(gateway.Part{Document: made})
	lifecycle.CrashPoint("outbox.spoken")
	return nil
}

// recording is a text as a kept recording.
func (d *Outbox) recording(ctx context.Context, text gateway.Document) (*gateway.Document, time.Duration, error) {
	ogg, length, err := d.config.Speak(ctx, text.Content, "")
	if err != nil {
		return nil, 0, err
	}
	path, err := d.config.Files.Put(bytes.NewReader(ogg))
	if err != nil {
		return nil, 0, err
	}
	made, err := Document(text.Name, text.MIME, path)
	return made, length, err
}

// voiceless switches spoken answers off in a chat that forbids voice messages.
func (d *Outbox) voiceless(ctx context.Context, a gateway.Address) {
	d.config.Life.Eventually(context.WithoutCancel(ctx), gateway.Address{}, func(tx *store.Tx) error {
		return tx.Chats().SetVoice(a.Chat.Channel, a.Chat.ID, false)
	}, d.config.Life.OrLog("voice not switched off", a, nil))
}

// hush tells a chat that takes no voice messages.
func (d *Outbox) hush(o store.Out) []store.Out {
	parts := d.config.Gateway.Render(o.Address.Chat.Channel, d.config.Say(locale.VoiceForbidden))
	return ofTurn(o.Turn, Rows(o.Address, parts, o.Key+"/off", 0))
}

package message

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"klawbot/tools"
)

// Speaker makes voice messages.
type Speaker interface {
	// Say makes a voice message, Opus in Ogg, of a text in Markdown. language "" is that of
	// the bot.
	Say(ctx context.Context, text, language string) (ogg []byte, length time.Duration, err error)
	// Describe says what speaks; false where nothing does.
	Describe() (string, bool)
}

// speakTime is how long a voice message may take to be made.
const speakTime = 3 * time.Minute

type speakArgs struct {
	Text string `json:"text"`
}

func speakTool(s Speaker) tools.Tool {
	spec := tools.Spec{Name: "speak", Group: tools.GroupMessage, Changes: true, Atomic: true, Timeout: speakTime, Unavailable: func() string {
		if what, ok := s.Describe(); !ok || what == "off" {
			return "nothing can speak here; the owner can run klawbot assets pull --voice en"
		}
		return ""
	}}
	return tools.New(spec, texts, func(ctx context.Context, c tools.Call, a speakArgs) tools.Result {
		if c.Chat == "" {
			return tools.Fail(tools.Validation, "this call has no chat to speak in")
		}
		ogg, length, err := s.Say(ctx, a.Text, "")
		if err != nil {
			return tools.Fail(tools.Execution, err.Error()+"; write the text in your answer instead")
		}
		seconds := int(length.Round(time.Second).Seconds())
		r := tools.OK(fmt.Sprintf("OK: voice message of %d:%02d goes to the chat with your answer", seconds/60, seconds%60))
		r.Outgoing = []tools.Outgoing{{Chat: c.Chat, Thread: c.Thread, File: &tools.File{
			Name: "voice.ogg", Content: io.NopCloser(bytes.NewReader(ogg)), Voice: max(length, time.Second),
		}}}
		return r
	})
}

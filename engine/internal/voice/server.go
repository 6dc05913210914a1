package voice

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/settings"
)

// usualVoice is the voice of a server where the configuration names none.
const usualVoice = "alloy"

// Bounds of an answer: in bytes, and how long a server may be silent before it.
const (
	maxSpoken   = 16 << 20
	maxSpeaking = 3 * time.Minute
)

// speechRequest is the body of a request for OpenAI's POST /audio/speech.
func speechRequest(v settings.Voice, text string) ([]byte, error) {
	return json.Marshal(map[string]string{
		"model": v.Model, "input": text, "voice": cmp.Or(v.Voice, usualVoice), "response_format": "opus",
	})
}

func speech(ctx context.Context, endpoint *protocol.Endpoint, body []byte) ([]byte, error) {
	r, err := endpoint.Post(ctx, "/audio/speech", body, maxSpeaking)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ogg, err := io.ReadAll(io.LimitReader(r.Body, maxSpoken+1))
	switch {
	case err != nil:
		return nil, r.Fail(err, false)
	case len(ogg) > maxSpoken:
		return nil, &llm.Error{Kind: llm.BadRequest, Status: http.StatusOK, Message: "the answer is longer than a voice message"}
	}
	return ogg, nil
}

package sdktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/anthropic"
	"klawbot/internal/modeltest"
)

// taker keeps the bodies of requests and answers OK to each.
type taker struct{ bodies [][]byte }

func (k *taker) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	k.bodies = append(k.bodies, body)
	const answer = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"OK"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(answer))), Request: r,
	}, nil
}

// TestAnthropicRequests wants Anthropic's SDK to read random conversations of
// ours without losing anything.
func TestAnthropicRequests(t *testing.T) {
	for name, compat := range map[string]string{
		"as it is":        `{}`,
		"thinking":        `{"thinkingTokens":2048}`,
		"without a cache": `{"cache":false,"toolChoiceNone":false,"reasoningReplay":"tool_turns"}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := &taker{}
			ours, err := anthropic.New(llm.Config{
				Provider: provider, HTTP: &http.Client{Transport: k}, Compat: json.RawMessage(compat), Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			for n := range requests {
				if _, err := ours.Stream(t.Context(), withoutExtra(makeRequest(n, "m")), func(llm.Event) {}); err != nil {
					t.Fatalf("request %d: %v", n, err)
				}
			}
			if len(k.bodies) != requests {
				t.Fatalf("%d requests, want %d", len(k.bodies), requests)
			}
			for _, body := range k.bodies {
				checkAnthropic(t, body)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// withoutExtra takes the fields of other providers off the calls: what a provider sent
// goes back to it as it was, and Anthropic sends none of these.
func withoutExtra(r llm.Request) llm.Request {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Call != nil {
				b.Call.Extra = nil
			}
		}
	}
	return r
}

func checkAnthropic(t *testing.T, body []byte) {
	t.Helper()
	var params sdk.MessageNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		t.Fatalf("the SDK cannot read %s: %v", body, err)
	}
	again, err := json.Marshal(params)
	if err != nil {
		t.Fatalf("the SDK cannot write what it read of %s: %v", body, err)
	}
	// "stream" is not a parameter of the SDK but which of its methods is called.
	sameJSON(t, "request", body, again, "stream")
}

// anthropicClient is Anthropic's own client of a fake.
func anthropicClient(t *testing.T) (*modeltest.Server, sdk.Client) {
	t.Helper()
	s, client := pipe(t)
	return s, sdk.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithHTTPClient(client), option.WithMaxRetries(0))
}

func messageParams() sdk.MessageNewParams {
	return sdk.MessageNewParams{
		Model: "m", MaxTokens: 100, System: []sdk.TextBlockParam{{Text: "Be brief."}},
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("hi"))},
		Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
			Name: "f", InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{"a": map[string]any{"type": "string"}}},
		}}},
	}
}

// TestAnthropicReadsTheFake lets the SDK read what the fake says, and send it
// back: the fake must know its own signatures.
func TestAnthropicReadsTheFake(t *testing.T) {
	for name, reply := range fakeReplies() {
		t.Run(name, func(t *testing.T) {
			s, client := anthropicClient(t)
			s.Push(reply, reply)
			whole, err := client.Messages.New(t.Context(), messageParams())
			if err != nil {
				t.Fatal(err)
			}
			checkMessage(t, reply, *whole)
			stream := client.Messages.NewStreaming(t.Context(), messageParams())
			defer stream.Close()
			var heard sdk.Message
			for stream.Next() {
				if err := heard.Accumulate(stream.Current()); err != nil {
					t.Fatalf("the SDK refuses %s: %v", stream.Current().RawJSON(), err)
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			checkMessage(t, reply, heard)
			if len(reply.Calls) > 0 {
				answerCalls(t, client, heard)
			}
		})
	}
}

func checkMessage(t *testing.T, reply modeltest.Reply, m sdk.Message) {
	t.Helper()
	var said, thought, hidden string
	var calls []modeltest.Call
	for _, block := range m.Content {
		switch b := block.AsAny().(type) {
		case sdk.TextBlock:
			said += b.Text
		case sdk.ThinkingBlock:
			thought += b.Thinking
		case sdk.RedactedThinkingBlock:
			hidden += b.Data
		case sdk.ToolUseBlock:
			calls = append(calls, modeltest.Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		default:
			t.Errorf("a block of type %q", block.Type)
		}
	}
	if said != reply.Text || thought != reply.Thinking || hidden != reply.Redacted || len(calls) != len(reply.Calls) {
		t.Errorf("heard %q, thought %q and %d calls", said, thought, len(calls))
	}
	for i, call := range calls {
		want := reply.Calls[i]
		if call.ID == "" || want.ID != "" && call.ID != want.ID || call.Name != want.Name || call.Arguments != want.Arguments {
			t.Errorf("call %d is %+v, want %+v", i, call, want)
		}
	}
	stop := map[bool]sdk.StopReason{true: sdk.StopReasonToolUse, false: sdk.StopReasonEndTurn}[len(calls) > 0]
	if reply.Finish == "length" {
		stop = sdk.StopReasonMaxTokens
	}
	if m.StopReason != stop || m.ID == "" || m.Role != "assistant" || m.Model != "m" || m.Usage.InputTokens == 0 || m.Usage.OutputTokens == 0 {
		t.Errorf("message %s", m.RawJSON())
	}
}

// answerCalls sends the results of all calls of a message.
func answerCalls(t *testing.T, client sdk.Client, m sdk.Message) {
	t.Helper()
	var results []sdk.ContentBlockParamUnion
	for _, block := range m.Content {
		if use, ok := block.AsAny().(sdk.ToolUseBlock); ok {
			results = append(results, sdk.NewToolResultBlock(use.ID, "done", false))
		}
	}
	next := messageParams()
	next.Messages = append(next.Messages, m.ToParam(), sdk.NewUserMessage(results...))
	if _, err := client.Messages.New(t.Context(), next); err != nil {
		t.Errorf("the fake refuses what the SDK sends back: %v", err)
	}
}

func TestAnthropicReadsTheFakesErrors(t *testing.T) {
	for kind, status := range map[string]int{
		"rate_limit_error": http.StatusTooManyRequests, "overloaded_error": 529, "api_error": http.StatusInternalServerError,
		"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized,
	} {
		s, client := anthropicClient(t)
		s.Push(modeltest.Error(status, "boom"))
		_, err := client.Messages.New(t.Context(), messageParams())
		var e *sdk.Error
		if !errors.As(err, &e) || e.StatusCode != status || string(e.Type()) != kind || !strings.Contains(e.RawJSON(), "boom") {
			t.Errorf("%d: the SDK reads %v", status, err)
		}
	}
}

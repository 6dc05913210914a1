package sdktest

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

// pipe is a strict fake and a client that reaches it at every address.
func pipe(t *testing.T) (*modeltest.Server, *http.Client) {
	t.Helper()
	s, dial := modeltest.StartPipe("")
	client := httpclient.New(httpclient.Options{Dial: dial})
	t.Cleanup(func() {
		client.CloseIdleConnections()
		s.Close()
	})
	return s, client
}

// TestOpenAIRequests sends random conversations to each kind of endpoint and
// wants OpenAI's SDK to read them without losing anything, except thinking where
// the endpoint wants it back, and what Google adds to calls, which goes back
// only to who added it.
func TestOpenAIRequests(t *testing.T) {
	for host, thinking := range map[string]bool{
		"api.openai.com": false, "api.groq.com": false, "localhost": false, "generativelanguage.googleapis.com": false, "api.mistral.ai": false,
		"api.deepseek.com": true, "api.moonshot.ai": true, "api.z.ai": true, "openrouter.ai": true,
	} {
		ignored := []string{"extra_content"}
		if thinking {
			ignored = append(ignored, "reasoning_content", "reasoning", "reasoning_text")
		}
		t.Run(host, func(t *testing.T) {
			s, client := pipe(t)
			ours, err := openai.New(llm.Config{
				Provider: provider, BaseURL: "http://" + host + "/v1", HTTP: client, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			for n := range requests {
				if _, err := ours.Stream(t.Context(), makeRequest(n, "m"), func(llm.Event) {}); err != nil {
					t.Fatalf("request %d: %v", n, err)
				}
			}
			bodies := s.Completions()
			if len(bodies) != requests {
				t.Fatalf("%d requests, want %d", len(bodies), requests)
			}
			for _, r := range bodies {
				checkOpenAI(t, r.Body, ignored)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func checkOpenAI(t *testing.T, body []byte, ignored []string) {
	t.Helper()
	var params sdk.ChatCompletionNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		t.Fatalf("the SDK cannot read %s: %v", body, err)
	}
	again, err := json.Marshal(params)
	if err != nil {
		t.Fatalf("the SDK cannot write what it read of %s: %v", body, err)
	}
	// "stream" is not a parameter of the SDK but which of its methods is called.
	sameJSON(t, "request", body, again, append([]string{"stream"}, ignored...)...)
}

// sdkClient is OpenAI's own client of a fake.
func sdkClient(t *testing.T) (*modeltest.Server, sdk.Client) {
	t.Helper()
	s, client := pipe(t)
	return s, sdk.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey("k"), option.WithHTTPClient(client), option.WithMaxRetries(0))
}

func params() sdk.ChatCompletionNewParams {
	return sdk.ChatCompletionNewParams{
		Model: "m", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage("Be brief."), sdk.UserMessage("hi")},
		Tools: []sdk.ChatCompletionToolUnionParam{sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "f", Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}},
		})},
	}
}

// fakeReplies are what the fake can say.
func fakeReplies() map[string]modeltest.Reply {
	return map[string]modeltest.Reply{
		"text":     {Text: "good morning, мир 😀", Pieces: 5, Usage: &modeltest.Usage{Prompt: 12, Completion: 3, Total: 15}},
		"calls":    {Calls: []modeltest.Call{{Name: "f", Arguments: `{"a":"b"}`}, {ID: "x", Name: "f", Arguments: `{}`}}},
		"both":     {Text: "wait", Thinking: "hm", Calls: []modeltest.Call{{Name: "f", Arguments: `{"a":"😀"}`}}},
		"cut":      {Text: "to be contin", Finish: "length"},
		"nothing":  {},
		"thinking": {Thinking: "hm", Text: "so"},
		"hidden":   {Redacted: "c2VjcmV0", Text: "so"},
	}
}

// TestOpenAIReadsTheFake lets the SDK read what the fake says: it must hear just
// that, streamed or not.
func TestOpenAIReadsTheFake(t *testing.T) {
	for name, reply := range fakeReplies() {
		t.Run(name, func(t *testing.T) {
			s, client := sdkClient(t)
			s.Push(reply, reply)
			completion, err := client.Chat.Completions.New(t.Context(), params())
			if err != nil {
				t.Fatal(err)
			}
			checkHeard(t, reply, *completion)
			streamed := params()
			streamed.StreamOptions.IncludeUsage = sdk.Bool(true)
			stream := client.Chat.Completions.NewStreaming(t.Context(), streamed)
			defer stream.Close()
			heard := sdk.ChatCompletionAccumulator{}
			for stream.Next() {
				if !heard.AddChunk(stream.Current()) {
					t.Fatalf("the SDK refuses the chunk %s", stream.Current().RawJSON())
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			checkHeard(t, reply, heard.ChatCompletion)
		})
	}
}

func checkHeard(t *testing.T, reply modeltest.Reply, c sdk.ChatCompletion) {
	t.Helper()
	if len(c.Choices) != 1 || c.ID == "" || c.Created == 0 || c.Model != "m" {
		t.Fatalf("a completion of %d choices, id %q, created %d, model %q", len(c.Choices), c.ID, c.Created, c.Model)
	}
	m := c.Choices[0].Message
	if m.Content != reply.Text || m.Role != "assistant" || len(m.ToolCalls) != len(reply.Calls) {
		t.Errorf("heard %q as %q with %d calls", m.Content, m.Role, len(m.ToolCalls))
	}
	for i, call := range m.ToolCalls {
		want := reply.Calls[i]
		if call.ID == "" || want.ID != "" && call.ID != want.ID || call.Type != "function" || call.Function.Name != want.Name || call.Function.Arguments != want.Arguments {
			t.Errorf("call %d is %+v, want %+v", i, call, want)
		}
	}
	finish := reply.Finish
	if finish == "" {
		finish = map[bool]string{true: "tool_calls", false: "stop"}[len(reply.Calls) > 0]
	}
	if string(c.Choices[0].FinishReason) != finish || c.Usage.PromptTokens == 0 || c.Usage.TotalTokens != c.Usage.PromptTokens+c.Usage.CompletionTokens {
		t.Errorf("finish %q, usage %+v", c.Choices[0].FinishReason, c.Usage)
	}
}

func TestOpenAIReadsTheFakesErrors(t *testing.T) {
	for name, c := range map[string]struct {
		reply  modeltest.Reply
		status int
		code   string
	}{
		"rate limit": {modeltest.RateLimited(2 * time.Second), http.StatusTooManyRequests, "rate_limit_exceeded"},
		"broken":     {modeltest.Error(http.StatusInternalServerError, "boom"), http.StatusInternalServerError, ""},
		"too long": {
			modeltest.Reply{Status: http.StatusBadRequest, Code: "context_length_exceeded", Message: "boom"}, http.StatusBadRequest, "context_length_exceeded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := sdkClient(t)
			s.Push(c.reply)
			_, err := client.Chat.Completions.New(t.Context(), params())
			var e *sdk.Error
			if !errors.As(err, &e) || e.StatusCode != c.status || e.Code != c.code || !strings.Contains(e.Message, c.reply.Message) {
				t.Errorf("the SDK reads %v", err)
			}
		})
	}
	_, client := sdkClient(t)
	refused := params()
	refused.Messages = nil
	var e *sdk.Error
	if _, err := client.Chat.Completions.New(t.Context(), refused); !errors.As(err, &e) || e.Type != "invalid_request_error" {
		t.Errorf("a request without messages: %v", err)
	}
}

func TestOpenAIListsTheFakesModels(t *testing.T) {
	s, client := sdkClient(t)
	s.SetModels("a", "b")
	page, err := client.Models.List(t.Context())
	if err != nil || len(page.Data) != 2 || page.Data[0].ID != "a" {
		t.Errorf("%v %+v", err, page)
	}
}

package llm_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/llmtest"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

// photo is a JPEG of one colour.
func photo(t *testing.T, w, h int, c color.Color) string {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// album are pictures by their sums; "gone" is no longer there.
func album(t *testing.T) func(string) (io.ReadCloser, error) {
	files := map[string]string{
		"red": photo(t, 16, 8, color.RGBA{255, 0, 0, 255}), "blue": photo(t, 8, 8, color.RGBA{0, 0, 255, 255}),
	}
	return func(sum string) (io.ReadCloser, error) {
		if files[sum] == "" {
			return nil, errors.New("no such file")
		}
		return io.NopCloser(strings.NewReader(files[sum])), nil
	}
}

func picture(sum string) llm.Image {
	return llm.Image{Sum: sum, MIME: "image/jpeg", Width: 16, Height: 8, Label: "photo inbox/" + sum + ".jpg"}
}

func shows(sum string) llm.Block {
	i := picture(sum)
	return llm.Block{Image: &i}
}

// base64s are the bytes of pictures in a body.
var base64s = regexp.MustCompile(`/9j/[A-Za-z0-9+/=]*`)

// sent is the messages that a client sends to the strict fake, without the bytes of
// pictures, and what the fake understood.
func sent(t *testing.T, name string, msgs []llm.Message) (body, understood string) {
	t.Helper()
	s, dial := modeltest.StartPipe(llmtest.Key)
	defer s.Close()
	s.SetCapabilities(0, "completion", "tools", "vision")
	client := httpclient.New(httpclient.Options{Dial: dial})
	defer client.CloseIdleConnections()
	p, err := clients[name](s.URL, client)
	if err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Model: "m", Messages: msgs, Tools: []llm.Tool{{Name: "look"}}, Open: album(t)}
	if _, err := p.Stream(t.Context(), r, func(llm.Event) {}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := s.Completions()[0]
	var seen []string
	for _, p := range got.Pictures() {
		seen = append(seen, p.String())
	}
	body = base64s.ReplaceAllString(string(got.Body), "B")
	_, body, _ = strings.Cut(body, `"messages":[`)
	body, _, _ = strings.Cut(body, `],"tools"`)
	body, _, _ = strings.Cut(body, `],"model"`)
	return body, strings.Join(seen, "; ")
}

func TestPicturesOnTheWire(t *testing.T) {
	call := func(id string) llm.Block {
		return llm.Block{Call: &llm.ToolCall{ID: id, Name: "look", Arguments: "{}"}}
	}
	result := func(id string, sums ...string) llm.Block {
		r := &llm.ToolResult{CallID: id, Name: "look", Text: "looked"}
		for _, sum := range sums {
			r.Images = append(r.Images, picture(sum))
		}
		return llm.Block{Result: r}
	}
	user := func(blocks ...llm.Block) llm.Message { return llm.Message{Role: llm.RoleUser, Blocks: blocks} }
	text := func(s string) llm.Block { return llm.Block{Text: s} }
	calls := []llm.Message{
		user(text("look")), {Role: llm.RoleAssistant, Blocks: []llm.Block{call("c1"), call("c2")}},
		{Role: llm.RoleTool, Blocks: []llm.Block{result("c1", "red"), result("c2", "blue")}},
	}
	for _, c := range []struct {
		name, wire string
		msgs       []llm.Message
		want       string
		understood string
	}{
		{
			"text and picture", "openai", []llm.Message{user(text("what is this?"), shows("red"))},
			`{"role":"user","content":[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,B"}}]}`, "red 16x8",
		},
		{
			"text and picture", "anthropic", []llm.Message{user(text("what is this?"), shows("red"))},
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"B"}},{"type":"text","text":"what is this?"}]}`, "red 16x8",
		},
		{
			"text and picture", "ollama", []llm.Message{user(text("what is this?"), shows("red"))},
			`{"role":"user","content":"what is this?","images":["B"]}`, "red 16x8",
		},
		{
			"between marks", "openai", []llm.Message{user(text("[begin]"), shows("red"), text("[end]"), text("hm"))},
			`{"role":"user","content":[{"type":"text","text":"[begin]"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,B"}},{"type":"text","text":"[end]\n\nhm"}]}`, "red 16x8",
		},
		{
			"between marks", "anthropic", []llm.Message{user(text("[begin]"), shows("red"), text("[end]"))},
			`{"role":"user","content":[{"type":"text","text":"[begin]"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"B"}},{"type":"text","text":"[end]"}]}`, "red 16x8",
		},
		{
			"picture alone, no longer kept", "openai", []llm.Message{user(shows("gone"))},
			`{"role":"user","content":"[photo inbox/gone.jpg, no longer kept]"}`, "",
		},
		{"picture alone", "ollama", []llm.Message{user(shows("blue"))}, `{"role":"user","content":"","images":["B"]}`, "blue 8x8"},
		{
			"results", "openai", calls,
			`{"role":"user","content":"look"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},` +
				`{"role":"tool","content":"looked","tool_call_id":"c1"},{"role":"tool","content":"looked","tool_call_id":"c2"},` +
				`{"role":"user","content":[{"type":"text","text":"[pictures of the calls above]"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,B"}},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,B"}}]}`,
			"red 16x8; blue 8x8",
		},
		{
			"results", "anthropic", calls,
			`{"role":"user","content":[{"type":"text","text":"look"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{}},{"type":"tool_use","id":"c2","name":"look","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"looked"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"B"}}]},` +
				`{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"looked"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"B"}}]}]}`,
			"red 16x8; blue 8x8",
		},
		{
			"results", "ollama", calls,
			`{"role":"user","content":"look"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"look","arguments":{}}},{"id":"c2","function":{"name":"look","arguments":{}}}]},` +
				`{"role":"tool","content":"looked","tool_name":"look","tool_call_id":"c1"},{"role":"tool","content":"looked","tool_name":"look","tool_call_id":"c2"},` +
				`{"role":"user","content":"[pictures of the calls above]","images":["B","B"]}`,
			"red 16x8; blue 8x8",
		},
	} {
		body, understood := sent(t, c.wire, c.msgs)
		body = strings.NewReplacer(`,"cache_control":{"type":"ephemeral"}`, "").Replace(body)
		if diff := cmp.Diff(c.want, body); diff != "" || understood != c.understood {
			t.Errorf("%s, %s: understood %q (-want +got)\n%s", c.wire, c.name, understood, diff)
		}
	}
}

func TestRequestWithoutPicturesIsAsBefore(t *testing.T) {
	for name := range clients {
		body, _ := sent(t, name, []llm.Message{llm.Text(llm.RoleUser, "hi")})
		if strings.Contains(body, "image") || name != "anthropic" && !strings.Contains(body, `"content":"hi"`) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestReplaceImages(t *testing.T) {
	i, result := picture("red"), llm.ToolResult{CallID: "c", Text: "text", Images: []llm.Image{picture("red"), picture("blue")}}
	msgs := []llm.Message{
		{Role: llm.RoleUser, Blocks: []llm.Block{{Text: "a"}, {Image: &i}}},
		{Role: llm.RoleTool, Blocks: []llm.Block{{Result: &result}}},
	}
	got := llm.ReplaceImages(msgs, func(i llm.Image) string {
		if i.Sum == "blue" {
			return ""
		}
		return i.InPlace("seen earlier")
	})
	if got[0].PlainText() != "a[photo inbox/red.jpg, seen earlier]" || got[1].Blocks[0].Result.Text != "text\n[photo inbox/red.jpg, seen earlier]" || len(got[1].Blocks[0].Result.Images) != 1 {
		t.Errorf("got %+v %+v", got[0], got[1].Blocks[0].Result)
	}
	if msgs[0].Blocks[1].Image == nil || len(result.Images) != 2 || result.Text != "text" {
		t.Error("the messages were changed")
	}
	if n := llm.EstimateImages(msgs); n != 3*85 {
		t.Errorf("%d tokens", n)
	}
	large := llm.Image{Width: 1568, Height: 1176}
	if n := llm.EstimateImages([]llm.Message{{Role: llm.RoleUser, Blocks: []llm.Block{{Image: &large}}}}); n != 1568*1176/750 {
		t.Errorf("%d tokens of a large picture", n)
	}
}

// TestPicturesWithoutFiles: words stand for pictures where there are no files.
func TestPicturesWithoutFiles(t *testing.T) {
	i := picture("red")
	p := teller(t, "openai", func() io.Reader {
		return strings.NewReader(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	})
	r := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Blocks: []llm.Block{{Image: &i}}}}}
	if _, err := p.Stream(t.Context(), r, func(llm.Event) {}); err != nil {
		t.Error(err)
	}
}

func TestWhoSees(t *testing.T) {
	for name, c := range map[string]struct {
		wire, host, path, answer string
		yes, known               bool
	}{
		"openrouter yes":   {"openai", "openrouter.ai", "/v1/models", `{"data":[{"id":"x"},{"id":"m","architecture":{"input_modalities":["text","image"]}}]}`, true, true},
		"openrouter no":    {"openai", "openrouter.ai", "/v1/models", `{"data":[{"id":"m","architecture":{"input_modalities":["text"]}}]}`, false, true},
		"mistral":          {"openai", "api.mistral.ai", "/v1/models", `{"data":[{"id":"m","capabilities":{"vision":true}}]}`, true, true},
		"a list":           {"openai", "models.example", "/v1/models", `{"data":[{"id":"m","capabilities":["completion"]}]}`, false, false},
		"llama.cpp yes":    {"openai", "127.0.0.1", "/props", `{"modalities":{"vision":true,"audio":false}}`, true, true},
		"llama.cpp no":     {"openai", "127.0.0.1", "/props", `{"modalities":{"vision":false}}`, false, true},
		"old llama.cpp":    {"openai", "127.0.0.1", "/props", `{}`, false, false},
		"nothing":          {"openai", "models.example", "/none", `{}`, false, false},
		"ollama yes":       {"ollama", "127.0.0.1", "/api/show", `{"capabilities":["completion","vision"]}`, true, true},
		"ollama no":        {"ollama", "127.0.0.1", "/api/show", `{"capabilities":["completion"]}`, false, true},
		"ollama is silent": {"ollama", "127.0.0.1", "/none", `{}`, false, false},
		"anthropic":        {"anthropic", "api.anthropic.com", "/none", `{}`, true, true},
	} {
		p, err := clients[c.wire]("https://"+c.host, llmtest.Client(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != c.path {
				return llmtest.Response(http.StatusNotFound, strings.NewReader("{}")), nil
			}
			return llmtest.Response(http.StatusOK, strings.NewReader(c.answer)), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if yes, known := p.(llm.Seer).Sees(t.Context(), "m"); yes != c.yes || known != c.known {
			t.Errorf("%s: sees %v, known %v", name, yes, known)
		}
	}
}

// TestRefusalsOfPictures are words of real servers.
func TestRefusalsOfPictures(t *testing.T) {
	for words, feature := range map[string]string{
		`{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`:                                                  llm.Images,
		`{"error":{"message":"Failed to deserialize the JSON body into the target type: messages[0]: unknown variant ` + "`image_url`, expected `text`" + ` at line 1 column 80","type":"invalid_request_error"}}`: llm.Images,
		`{"error":{"message":"No endpoints found that support image input","code":404}}`:                                                                                                                           llm.Images,
		`{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error"}}`:                                                                              llm.Images,
		`{"error":{"message":"messages[0].content must be a string","type":"invalid_request_error"}}`:                                                                                                              llm.Images,
		`{"error":"Failed to create new sequence: this model is missing data required for image input"}`:                                                                                                           llm.Images,
		`{"object":"error","message":"At most 0 image(s) may be provided in one request.","type":"BadRequestError","code":400}`:                                                                                    llm.Images,
		`{"error":{"message":"Image input modality is not enabled for models/gemma-3-1b-it"}}`:                                                                                                                     llm.Images,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6 bytes > 5242880 bytes"}}`:                                      llm.ImageSize,
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0.image.source.base64.data: image dimensions exceed max allowed size: 8000 pixels"}}`:                               llm.ImageSize,
		`{"error":{"message":"You uploaded an unsupported image. Please make sure your image is valid.","type":"invalid_request_error","code":"image_parse_error"}}`:                                               llm.ImageSize,
		`{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}`:                                                                                                            llm.ImageSize,
		`{"error":{"message":"At most 1 image(s) may be provided in one request."}}`:                                                                                                                               llm.ImageSize,
	} {
		p, err := clients["openai"]("https://model.example", llmtest.Client(func(*http.Request) (*http.Response, error) {
			status := http.StatusBadRequest
			if strings.Contains(words, `"code":500`) {
				status = http.StatusInternalServerError
			}
			return llmtest.Response(status, strings.NewReader(words)), nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Stream(t.Context(), storyRequest(false), func(llm.Event) {})
		if fail, ok := errors.AsType[*llm.Error](err); !ok || fail.Kind != llm.Unsupported || fail.Feature != feature {
			t.Errorf("%s: %v", words, err)
		}
	}
}

func TestPictureIsEncodedAsItIs(t *testing.T) {
	open := album(t)
	f, err := open("red")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if body := base64.StdEncoding.EncodeToString(raw); !base64s.MatchString(body) {
		t.Errorf("the tests do not find %s", body)
	}
}

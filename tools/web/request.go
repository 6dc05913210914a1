package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"klawbot/internal/httpclient"
	"klawbot/tools"
	"klawbot/tools/web/load"
)

type requestArgs struct {
	Method  string            `json:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Timeout int               `json:"timeout,omitempty" default:"30" min:"1"`
	Extract string            `json:"extract,omitempty"`
}

// userAgent is the default User-Agent.
const userAgent = "klawbot"

// aliasPreset is for aliases from systems that only fetch.
var aliasPreset = map[string]any{"method": http.MethodGet}

func (w *Web) requestTool() tools.Tool {
	return tools.New(tools.Spec{
		Name: "http_request", Group: tools.GroupNet, Outside: true,
		Aliases:     []tools.Alias{{Name: "http_fetch", Preset: aliasPreset}, {Name: "fetch", Preset: aliasPreset}, {Name: "web_fetch", Preset: aliasPreset}},
		Arguments:   map[string]string{"timeout_secs": "timeout", "timeout_seconds": "timeout"},
		Changes:     true,
		ChangesWhen: sends, RequiresApproval: true, PreValidate: w.precheck, TimeoutOf: requestTimeout,
	}, texts, w.request)
}

// sends reports whether a request may modify data on the server.
func sends(arguments json.RawMessage) bool {
	var a requestArgs
	err := json.Unmarshal(arguments, &a)
	return err != nil || a.Method != http.MethodGet && a.Method != http.MethodHead
}

// extractTime is the time for a small model after the request.
const extractTime = 2 * time.Minute

// requestTimeout is the deadline of a call.
func requestTimeout(arguments json.RawMessage) time.Duration {
	var a requestArgs
	if err := json.Unmarshal(arguments, &a); err != nil { // validated before
		return 0
	}
	if a.Extract != "" {
		return a.patience() + extractTime
	}
	return a.patience()
}

// patience is the time limit of the server.
func (a requestArgs) patience() time.Duration {
	return time.Duration(min(a.Timeout, int(tools.MaxTimeout/time.Second))) * time.Second
}

// precheck checks the arguments before a user is asked.
func (w *Web) precheck(c tools.Call, _ tools.Autonomy) *tools.Result {
	var a requestArgs
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tools.Refused(tools.Validation, err.Error())
	}
	if _, refusal := w.prepare(context.Background(), a); refusal != nil {
		return refusal
	}
	return nil
}

// prepare makes the request, or the result for its errors.
func (w *Web) prepare(ctx context.Context, a requestArgs) (*http.Request, *tools.Result) {
	u, err := w.guard().Check(a.URL)
	if err != nil {
		return nil, load.Refused(err, w.note())
	}
	if int64(len(a.Body)) > w.maxBody() {
		return nil, tools.Refused(tools.Validation, "the body is longer than "+load.Size(w.maxBody()))
	}
	req, err := http.NewRequestWithContext(ctx, a.Method, u.String(), strings.NewReader(a.Body))
	if err == nil {
		req.Header, err = headers(a.Headers)
	}
	if err != nil {
		return nil, tools.Refused(tools.Validation, err.Error())
	}
	if a.Method != http.MethodHead && req.Header.Get("Range") == "" {
		req.Header.Set("Accept-Encoding", asked)
	}
	return req, nil
}

// request is the tool http_request.
func (w *Web) request(ctx context.Context, c tools.Call, a requestArgs) tools.Result {
	loading, done := context.WithTimeout(ctx, a.patience())
	defer done()
	req, refusal := w.prepare(loading, a)
	if refusal != nil {
		return *refusal
	}
	slow := load.Slowly(ctx, c)
	defer slow.Stop()
	resp, err := w.guarded.Do(req)
	if err != nil {
		return w.failure(req, err)
	}
	defer resp.Body.Close()
	r := w.response(ctx, c, a, resp, slow)
	r.Source = req.URL.Redacted()
	return r
}

// failure is the result without a response.
func (w *Web) failure(req *http.Request, err error) tools.Result {
	if errors.Is(err, httpclient.ErrDenied) {
		return *load.Refused(err, w.note())
	}
	if errors.Is(req.Context().Err(), context.DeadlineExceeded) {
		return tools.Fail(tools.Timeout, req.URL.Host+" did not answer in time; try a longer timeout, at most 300 seconds")
	}
	return tools.Fail(tools.Execution, "no answer from "+req.URL.Host+": "+load.Explain(err))
}

// unfinished is the result for a response that broke off after some bytes.
func (w *Web) unfinished(req *http.Request, err error, read int) tools.Result {
	if read == 0 || !errors.Is(req.Context().Err(), context.DeadlineExceeded) {
		return w.failure(req, err)
	}
	return tools.Fail(tools.Timeout, fmt.Sprintf("%s sent %s and did not finish in time; try a longer timeout, at most 300 seconds", req.URL.Host, load.Size(int64(read))))
}

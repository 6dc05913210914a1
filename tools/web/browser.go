package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"klawbot/tools"
)

type browserArgs struct {
	Action   string `json:"action" enum:"open,text,click,type,screenshot,close"`
	URL      string `json:"url,omitempty"`
	Selector string `json:"selector,omitempty"`
	Text     string `json:"text,omitempty"`
}

// maxTyped is how much can be typed at once, in characters.
const maxTyped = 10_000

func (w *Web) browserTool() tools.Tool {
	return tools.New(tools.Spec{
		Name: "browser", Group: tools.GroupBrowser, Outside: true, Changes: true, ChangesWhen: touches, RequiresApproval: true,
		PreValidate: w.precheckBrowser, Timeout: browserTimeout,
		Unavailable: func() string {
			if _, err := w.browser.program(); err != nil {
				return err.Error()
			}
			return ""
		},
	}, texts, w.browse)
}

// touches reports whether a call does something on the page.
func touches(arguments json.RawMessage) bool {
	var a browserArgs
	err := json.Unmarshal(arguments, &a)
	return err != nil || a.Action == "click" || a.Action == "type"
}

// precheckBrowser refuses what is wrong without a browser.
func (w *Web) precheckBrowser(c tools.Call, _ tools.Autonomy) *tools.Result {
	var a browserArgs
	err := json.Unmarshal(c.Arguments, &a)
	if err == nil {
		err = a.complete()
	}
	if err != nil {
		r := tools.Fail(tools.Validation, err.Error())
		return &r
	}
	if a.Action == "open" {
		if _, err := w.guard().Check(a.URL); err != nil {
			return w.refusal(err)
		}
	}
	return nil
}

// complete reports what is missing for the action.
func (a browserArgs) complete() error {
	switch {
	case a.Action == "open" && a.URL == "":
		return errors.New("open needs url")
	case (a.Action == "click" || a.Action == "type") && strings.TrimSpace(a.Selector) == "":
		return fmt.Errorf("%s needs selector; text shows which there are", a.Action)
	case a.Action == "type" && a.Text == "":
		return errors.New("type needs text")
	case len(a.Text) > maxTyped:
		return fmt.Errorf("text is longer than %d characters", maxTyped)
	}
	return nil
}

// browse runs the tool browser.
func (w *Web) browse(ctx context.Context, c tools.Call, a browserArgs) tools.Result {
	if a.Action == "close" {
		w.browser.end(placeOf(c))
		return tools.OK("OK: browser closed")
	}
	t, err := w.browser.take(ctx, placeOf(c), a.Action == "open")
	if err == nil && !t.answers(ctx) {
		w.browser.end(placeOf(c))
		if a.Action != "open" {
			return tools.Fail(tools.Execution, stuck)
		}
		t, err = w.browser.take(ctx, placeOf(c), true)
	}
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	defer w.browser.give(t)
	slow := slowly(ctx, c)
	defer slow.stop()
	r := w.act(ctx, c, t, a)
	if !r.Success && ctx.Err() != nil {
		return tools.Fail(tools.Timeout, "the page did not get ready in time")
	}
	return r
}

// act does one action on a page.
func (w *Web) act(ctx context.Context, c tools.Call, t *tab, a browserArgs) tools.Result {
	var err error
	switch a.Action {
	case "open":
		err = t.open(ctx, a.URL)
	case "click":
		err = t.click(ctx, a.Selector)
	case "type":
		err = t.write(ctx, a.Selector, a.Text)
	case "screenshot":
		return t.shoot(ctx, c, a.Selector)
	}
	if err != nil {
		return w.browserFailure(err)
	}
	selector := a.Selector
	if a.Action != "text" {
		selector = ""
	}
	seen, err := t.look(ctx, selector)
	if err != nil {
		return w.browserFailure(err)
	}
	r := tools.OK(seen.String())
	r.Source = seen.URL
	return w.noted(r)
}

// browserFailure is a result for what went wrong on a page.
func (w *Web) browserFailure(err error) tools.Result {
	if refusal := w.refusal(err); refusal.ErrorKind == tools.Security {
		return *refusal
	}
	return pageFailure(err)
}

// stuck is said of a page whose scripts never end.
const stuck = "the page does not respond any more; open another one, which starts the browser afresh"

// pageFailure is a result for a page that did not do what it should.
func pageFailure(err error) tools.Result {
	if errors.Is(err, context.DeadlineExceeded) {
		return tools.Fail(tools.Timeout, stuck)
	}
	return tools.Fail(tools.Execution, fmt.Sprintf("%.300s", tidy(err.Error())))
}

// shoot takes a picture for the chat.
func (t *tab) shoot(ctx context.Context, c tools.Call, selector string) tools.Result {
	picture, err := t.picture(ctx, selector)
	if err != nil {
		return pageFailure(err)
	}
	dir, err := c.Scratch()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "screenshot.png"), picture, 0o600)
	}
	if err != nil {
		return tools.Fail(tools.Execution, "the picture could not be kept: "+err.Error())
	}
	r := tools.OK(fmt.Sprintf("OK: screenshot taken (%s)", size(int64(len(picture)))))
	r.Artifacts = []tools.Artifact{{Name: "screenshot.png", MIME: "image/png", Path: "screenshot.png"}}
	return r
}

// placeOf is whose browser a call works with: that of its chat and topic.
func placeOf(c tools.Call) string { return fmt.Sprintf("%s/%d", c.Chat, c.Thread) }

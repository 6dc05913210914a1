// Package browser is the tool browser: a headless Chromium for each chat that opened a
// page.
//
// A browser's only network is its own proxy, which checks each address. It keeps
// everything in one directory, which is wiped when it closes, or at the next start.
package browser

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"klawbot/tools"
	"klawbot/tools/web/load"
)

//go:embed *.md
var texts embed.FS

type browserArgs struct {
	Action   string `json:"action" enum:"open,text,click,type,screenshot,close"`
	URL      string `json:"url,omitempty"`
	Selector string `json:"selector,omitempty"`
	Text     string `json:"text,omitempty"`
}

// maxTyped is the longest text to type, in characters.
const maxTyped = 10_000

// Tool is the tool browser.
func (b *Browsers) Tool() tools.Tool {
	return tools.New(tools.Spec{
		Name: "browser", Group: tools.GroupBrowser, Outside: true, Changes: true, ChangesWhen: touches, RequiresApproval: true,
		PreValidate: b.precheck, Timeout: browserTimeout,
		Unavailable: func() string {
			if _, err := b.program(); err != nil {
				return err.Error()
			}
			return ""
		},
	}, texts, b.browse)
}

// touches reports whether a call may change something on the page.
func touches(arguments json.RawMessage) bool {
	var a browserArgs
	err := json.Unmarshal(arguments, &a)
	return err != nil || a.Action == "click" || a.Action == "type"
}

// precheck checks the arguments before a user is asked.
func (b *Browsers) precheck(c tools.Call, _ tools.Autonomy) *tools.Result {
	var a browserArgs
	err := json.Unmarshal(c.Arguments, &a)
	if err == nil {
		err = a.complete()
	}
	if err != nil {
		return tools.Refused(tools.Validation, err.Error())
	}
	if a.Action == "open" {
		if _, err := b.config.Guard.Check(a.URL); err != nil {
			return load.Refused(err, b.config.Note())
		}
	}
	return nil
}

// complete reports missing arguments of the action.
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
func (b *Browsers) browse(ctx context.Context, c tools.Call, a browserArgs) tools.Result {
	if a.Action == "close" {
		b.end(placeOf(c))
		return tools.OK("OK: browser closed")
	}
	t, err := b.take(ctx, placeOf(c), a.Action == "open")
	if err == nil && !t.answers(ctx) {
		b.end(placeOf(c))
		if a.Action != "open" {
			return tools.Fail(tools.Execution, stuck)
		}
		t, err = b.take(ctx, placeOf(c), true)
	}
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	defer b.give(t)
	slow := load.Slowly(ctx, c)
	defer slow.Stop()
	r := b.act(ctx, c, t, a)
	if !r.Success && ctx.Err() != nil {
		return tools.Fail(tools.Timeout, "the page wasn't ready in time")
	}
	return r
}

// act runs one action on a page.
func (b *Browsers) act(ctx context.Context, c tools.Call, t *tab, a browserArgs) tools.Result {
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
		return b.failure(err)
	}
	selector := a.Selector
	if a.Action != "text" {
		selector = ""
	}
	seen, err := t.look(ctx, selector)
	if err != nil {
		return b.failure(err)
	}
	r := tools.OK(seen.String())
	r.Source = seen.URL
	return load.Noted(r, b.config.Note())
}

// failure is a result for an error on a page.
func (b *Browsers) failure(err error) tools.Result {
	if refusal := load.Refused(err, b.config.Note()); refusal.ErrorKind == tools.Security {
		return *refusal
	}
	return pageFailure(err)
}

// stuck is the error of a page whose scripts never end.
const stuck = "the page doesn't respond any more; open another one, which restarts the browser"

func pageFailure(err error) tools.Result {
	if errors.Is(err, context.DeadlineExceeded) {
		return tools.Fail(tools.Timeout, stuck)
	}
	return tools.Fail(tools.Execution, fmt.Sprintf("%.300s", load.Line(err.Error())))
}

// shoot takes a screenshot for the chat.
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
		return tools.Fail(tools.Execution, "the screenshot could not be stored: "+err.Error())
	}
	r := tools.OK(fmt.Sprintf("OK: screenshot taken (%s)", load.Size(int64(len(picture)))))
	r.Artifacts = []tools.Artifact{{Name: "screenshot.png", MIME: "image/png", Path: "screenshot.png"}}
	return r
}

// placeOf is the key of the browser of a chat and topic.
func placeOf(c tools.Call) string { return fmt.Sprintf("%s/%d", c.Chat, c.Thread) }

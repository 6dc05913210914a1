package browser

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"klawbot/tools/web/load"
)

// sight is what a user would see of a page.
type sight struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text"`
	Found bool   `json:"found"`
	// Controls can be clicked or typed into, with selectors and values. More counts those
	// left out, Unseen those not examined, which may be hidden.
	Controls []string `json:"controls"`
	More     int      `json:"more"`
	Unseen   int      `json:"unseen"`
}

// findScript finds an element for the other scripts and the actions.
//
//go:embed find.js
var findScript string

//go:embed look.js
var lookScript string

// look reads the page, or an element of it.
func (t *tab) look(ctx context.Context, selector string) (s sight, err error) {
	inner, done := t.within(ctx, readyWithin)
	defer done()
	s, err = chromedp.Run(inner, aside[sight](script(lookScript, selector, load.MaxText)))
	if err == nil && !s.Found {
		return s, fmt.Errorf("nothing matches %s", selector)
	}
	return s, err
}

// script calls a function in JavaScript. Its first argument is findScript.
func script(function string, args ...any) string {
	written, _ := json.Marshal(args) // texts and numbers
	return fmt.Sprintf("(%s)((%s), ...%s)", function, findScript, written)
}

// deeper leads into the element before it in a selector.
const deeper = " >>> "

// at tells chromedp how to find an element inside others.
func at(selector string) []chromedp.QueryOption {
	if !strings.Contains(selector, deeper) {
		return nil
	}
	return []chromedp.QueryOption{chromedp.ByFunc(func(ctx context.Context, t *chromedp.Target, _ *chromedp.Node) ([]cdp.NodeID, error) {
		world, err := ownWorld(ctx, t)
		if err != nil {
			return nil, err
		}
		found, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: script("function (find, selector) { return find(selector); }", selector), ContextID: world})
		if err != nil || found.Result.ObjectID == "" || found.ExceptionDetails != nil {
			return nil, err // not there, or not yet
		}
		node, err := cdp.Call(ctx, t, dom.RequestNode, dom.RequestNodeParams{ObjectID: found.Result.ObjectID})
		if err != nil || node.NodeID == chromedp.EmptyNodeID {
			return nil, err
		}
		return []cdp.NodeID{node.NodeID}, nil
	})}
}

// aside evaluates a script isolated from those of the page.
func aside[T any](script string) chromedp.Action[T] {
	return func(ctx context.Context, at *chromedp.Target) (v T, err error) {
		world, err := ownWorld(ctx, at)
		if err != nil {
			return v, err
		}
		return chromedp.Evaluate[T](script, func(p *runtime.EvaluateParams) { p.ContextID = world })(ctx, at)
	}
}

// ownWorld is an isolated world: its scripts see the page, but no function or property
// that the page has replaced.
func ownWorld(ctx context.Context, t *chromedp.Target) (runtime.ExecutionContextID, error) {
	frames, err := cdp.Call(ctx, t, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	world, err := cdp.Call(ctx, t, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frames.FrameTree.Frame.ID, WorldName: "klawbot"})
	if err != nil {
		return 0, err
	}
	return world.ExecutionContextID, nil
}

// longText is the longest text before the controls, which must not be cut off.
const longText = 5000

// String is the page for the model.
func (s sight) String() string {
	head := fmt.Sprintf("# %s\n%s\n\n", cmp.Or(load.Line(s.Title), "(no title)"), s.URL)
	text, controls := cmp.Or(strings.TrimSpace(s.Text), "(no text)")+"\n", s.controls()
	switch {
	case controls == "":
		return head + text
	case len(text) > longText:
		return head + controls + "\nThe text:\n" + text
	}
	return head + text + "\n" + controls
}

// controls lists what can be clicked or typed into.
func (s sight) controls() string {
	var b strings.Builder
	if len(s.Controls) > 0 {
		b.WriteString("To click and to type into:\n")
		for _, c := range s.Controls {
			b.WriteString("- " + load.Line(c) + "\n")
		}
	}
	if s.More > 0 {
		fmt.Fprintf(&b, "(and %d more)\n", s.More)
	}
	if s.Unseen > 0 {
		fmt.Fprintf(&b, "(%d more were not examined: give text a selector to see a part of the page)\n", s.Unseen)
	}
	return b.String()
}

//go:build browser

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"klawbot/internal/modeltest"
)

// TestPictureOfTheWebPage makes the picture of the README: the real program with a scripted
// model, its page in Chromium, and a person who types. Nothing but the model's words is
// made up: the list, the request for approval and its buttons are the program's.
// KLAWBOT_SHOTS is the folder for the picture.
func TestPictureOfTheWebPage(t *testing.T) {
	r := newRig(t, "edit", 11)
	page := r.withPage()
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		switch done := callsBehind(q); {
		case strings.Contains(q.LastUser(), "delete") && done == 0:
			return modeltest.CallTool("shell", map[string]any{"command": "rm notes/old.log"})
		case done == 0:
			return modeltest.CallTool("shell", map[string]any{"command": "wc -c notes/access.log notes/error.log notes/old.log"})
		}
		return modeltest.Text("The folder has three logs:\n\n| file | size |\n|:--|--:|\n| error.log | 41 kB |\n| old.log | 12 kB |\n| access.log | 2 kB |\n\n`error.log` is the largest. I changed nothing.")
	})
	notes := filepath.Join(r.workspace(), "notes")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"error.log": 41_000, "old.log": 12_000, "access.log": 2_000} {
		if err := os.WriteFile(filepath.Join(notes, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := r.start("")
	page.signIn() // it waits for the page
	link, _, _ := strings.Cut(page.command("web"), " ")

	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox)...)
	defer stop()
	ctx, done := chromedp.NewContext(allocator)
	defer done()
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			t.Fatalf("%v\n%s", err, tailOf(b.log.String()))
		}
	}
	shows := func(text string) {
		t.Helper()
		waitFor(t, "the page shows "+text, func() (bool, string) {
			body, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
			return err == nil && strings.Contains(body, text), body
		})
	}
	do(chromedp.EmulateViewport(1280, 760), chromedp.Navigate(strings.TrimSpace(link)), chromedp.Click("button.main"), chromedp.WaitVisible("#text"))
	do(chromedp.SendKeys("#text", "How big are the logs in notes?\r"))
	shows("I changed nothing.")
	do(chromedp.SendKeys("#text", "Then delete the old one, please.\r"))
	shows("Allow once")
	do(chromedp.Sleep(time.Second)) // the page scrolls to the end
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if folder := os.Getenv("KLAWBOT_SHOTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, "web.png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`[...document.querySelectorAll("button")].find(b => b.innerText.trim() === "Deny").click(), true`)); err != nil {
		t.Fatal(err)
	}
	shows("Denied")
	if _, err := os.Stat(filepath.Join(notes, "old.log")); err != nil {
		t.Errorf("the file is gone although the call was denied: %v", err)
	}
}

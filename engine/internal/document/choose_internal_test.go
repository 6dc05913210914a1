package document

import (
	"context"
	"testing"

	"klawbot/engine/internal/confined"
)

// slow is a document whose third page takes too long.
type slow struct{ fault error }

func (slow) unit() string { return "page" }

func (slow) count() int { return 9 }

func (s slow) part(_ context.Context, n int) (part, error) {
	if n == 3 {
		return part{}, s.fault
	}
	return part{text: "words"}, nil
}

// TestTimeIsOver: the pages so far are kept, and the next call goes on behind them. Any
// other fault is the answer, and so is one without pages so far.
func TestTimeIsOver(t *testing.T) {
	o := Options{MaxChars: 1000, MaxPages: 100}
	over := &confined.Fault{Kind: confined.GaveUp}
	for _, err := range []error{over, context.DeadlineExceeded} {
		d, got := choose(t.Context(), slow{err}, o)
		if got != nil || !d.Partial || d.Shown != "1-2" || d.Next != 3 || d.More != "3-" {
			t.Errorf("%+v, %v", d, got)
		}
	}
	if _, err := choose(t.Context(), slow{&confined.Fault{Kind: confined.Locked}}, o); err == nil {
		t.Error("another fault is lost")
	}
	o.Pages = "3-"
	if _, err := choose(t.Context(), slow{over}, o); err == nil {
		t.Error("nothing was read, and there is no fault")
	}
}

// Package budget bounds the work of a check. What a model or a server writes is
// checked before anything else is decided, so no policy, deadline or /stop can end a
// check that takes too long. A check takes a Budget proportional to its input, counts its
// steps, and gives up when they are used up.
package budget

import "errors"

// ErrTooComplex says that a check gave up. What it would have found is unknown, so a
// person has to look.
var ErrTooComplex = errors.New("too complex to check")

// The steps of a budget. A step is about 100 ns of work.
const (
	base    = 1 << 18
	perByte = 16
)

// Budget is the number of steps that a check may still take. It is for one
// goroutine.
type Budget struct{ all, left int }

// For returns the budget of a check of so many bytes.
func For(bytes int) *Budget { return Of(base + perByte*bytes) }

// Of returns a budget of so many steps.
func Of(steps int) *Budget { return &Budget{steps, steps} }

// Spend takes steps, before the work is done. It reports false, then and ever
// after, when there are not enough: the work must not be done.
func (b *Budget) Spend(steps int) bool {
	if b.left >= 0 {
		b.left -= steps
	}
	return b.left >= 0
}

// Spent reports whether a Spend was refused.
func (b *Budget) Spent() bool { return b.left < 0 }

// Used is how many steps were asked for. Of a budget that is spent it says only
// that it is more than there were.
func (b *Budget) Used() int { return b.all - b.left }

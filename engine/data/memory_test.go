package data

import (
	"bufio"
	"strings"
	"testing"
)

// TestNextLineReadsPastLongOnes: a line that is too long takes none of the others
// with it.
func TestNextLineReadsPastLongOnes(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("one\n\n"+strings.Repeat("x", 100)+"\ntwo\n"+strings.Repeat("y", 50)), 16)
	for _, want := range []struct {
		line  string
		whole bool
	}{{"one\n", true}, {"\n", true}, {strings.Repeat("x", 40), false}, {"two\n", true}, {strings.Repeat("y", 40), false}} {
		line, whole, err := nextLine(in, 40)
		if string(line) != want.line || whole != want.whole || err != nil {
			t.Errorf("%q, %v, %v, want %q, %v", line, whole, err, want.line, want.whole)
		}
	}
	if line, _, err := nextLine(in, 40); line != nil || err != nil {
		t.Errorf("behind the end there is %q, %v", line, err)
	}
}

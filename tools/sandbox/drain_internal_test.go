package sandbox

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestOutputOfALoadedMachine: what a command wrote is there, even if its reader gets no
// processor until the time for reading is over.
func TestOutputOfALoadedMachine(t *testing.T) {
	p := &Process{stdout: newBuffer(Command{}), stderr: newBuffer(Command{})}
	want := []string{"err\n", strings.Repeat("out\n", 16000)}
	for _, text := range want {
		r, w, err := os.Pipe()
		if err == nil {
			_, err = w.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		_ = r.SetReadDeadline(time.Now()) // its reader, who is late, gets nothing
		p.drains = append(p.drains, r)
	}
	p.drain()
	if out, err := p.Output(); err.String() != want[0] || out.String() != want[1] {
		t.Errorf("%d bytes of %d, %d of %d", len(err.String()), len(want[0]), len(out.String()), len(want[1]))
	}
}

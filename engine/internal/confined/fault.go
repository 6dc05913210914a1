package confined

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// FaultKind is what is wrong with a file, or with this machine for it.
type FaultKind string

// The kinds of faults.
const (
	TooMuch   FaultKind = "too much"   // too big inside
	Broken    FaultKind = "broken"     // damaged, or of another format
	Locked    FaultKind = "locked"     // has a password
	GaveUp    FaultKind = "gave up"    // no time or memory left
	NoReader  FaultKind = "no reader"  // a program is missing; Detail is how to install it
	NoWords   FaultKind = "no words"   // silence
	NoDecoder FaultKind = "no decoder" // sound of an unknown format
	TooLong   FaultKind = "too long"   // lasts longer than allowed; Detail is how long
	Scan      FaultKind = "scan"       // pictures only
)

// Fault is why a file could not be read. It is not an error of klawbot.
type Fault struct {
	Kind FaultKind
	// Detail is for logs and for what completes the sentence. It holds nothing of the
	// file's contents.
	Detail string
}

func (f *Fault) Error() string {
	if f.Detail == "" {
		return string(f.Kind)
	}
	return string(f.Kind) + ": " + f.Detail
}

// Clock is a duration as people read it, "0:07" or "3:00:00".
func Clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// answer is what a child writes: a line of JSON, then the text, then the data. So an
// answer costs what it is long, whatever the child has become.
type answer struct {
	Meta map[string]string `json:",omitempty"`
	// Text and Data are how many bytes of each follow.
	Text, Data int
	Fault      *Fault `json:",omitempty"`
	// Error is what is wrong with klawbot or this machine.
	Error string `json:",omitempty"`
}

// maxHead bounds the line of an answer.
const maxHead = 256 << 10

func write(w io.Writer, a answer, r Result) error {
	a.Meta, a.Text, a.Data = r.Meta, len(r.Text), len(r.Data)
	head, err := json.Marshal(a)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head, {'\n'}, []byte(r.Text), r.Data} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// read reads an answer. Its text is valid UTF-8.
func read(out []byte) (Result, error) {
	head, rest, ok := bytes.Cut(out, []byte{'\n'})
	var a answer
	if !ok || len(head) > maxHead || json.Unmarshal(head, &a) != nil ||
		a.Text < 0 || a.Data < 0 || a.Text > len(rest) || a.Data != len(rest)-a.Text {
		return Result{}, &Fault{Broken, "its reader gave no answer"}
	}
	switch {
	case a.Error != "":
		return Result{}, errors.New(a.Error)
	case a.Fault != nil:
		return Result{}, a.Fault
	}
	r := Result{Text: strings.ToValidUTF8(string(rest[:a.Text]), "\uFFFD"), Meta: a.Meta}
	if a.Data > 0 {
		r.Data = rest[a.Text:]
	}
	return r, nil
}

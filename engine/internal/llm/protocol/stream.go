package protocol

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/tmaxmax/go-sse"

	"klawbot/engine/internal/llm"
)

// Event is a server-sent event.
type Event struct {
	// Type is its name, empty for none; Data is trimmed and not empty.
	Type string
	Data []byte
}

// Events reads server-sent events until the end. Comments are left out, also
// those that some proxy wrapped into data. The blank lines at the end let a
// last event count that has none; one that was cut isn't valid JSON. An
// error is an *llm.Error or the reader's.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		all := sse.Read(io.MultiReader(r, strings.NewReader("\n\n")), &sse.ReadConfig{MaxEventSize: MaxAnswer})
		for event, err := range all {
			if errors.Is(err, bufio.ErrTooLong) {
				err = Truncated("an event of the stream is too long")
			}
			data := strings.TrimSpace(event.Data)
			if err == nil && (data == "" || data[0] == ':') {
				continue
			}
			if !yield(Event{event.Type, []byte(data)}, err) || err != nil {
				return
			}
		}
	}
}

// Lines reads the lines of a stream until the end, without those that are
// blank. Errors are as of Events.
func Lines(r *bufio.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			line, err := readLine(r)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			if text := strings.TrimSpace(string(line)); text != "" && !yield([]byte(text), nil) || err != nil {
				return
			}
		}
	}
}

// readLine reads up to a line end, or to the end of everything.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxAnswer:
			return nil, Truncated("a line of the stream is too long")
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// FirstByte skips white space and returns what follows, without taking it. An
// answer without anything is an *llm.Error, and so is a web page.
func FirstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, Truncated("the answer is empty")
		case err != nil:
			return 0, err
		case b == '<':
			return 0, &llm.Error{Kind: llm.BadRequest, Status: 200, Message: "a web page came instead of an answer; is baseURL right?"}
		case !strings.ContainsRune(" \t\r\n", rune(b)):
			return b, r.UnreadByte()
		}
	}
}

// Truncated is the error of an answer that stopped before its end.
func Truncated(why string) error { return &llm.Error{Kind: llm.Truncated, Message: why} }

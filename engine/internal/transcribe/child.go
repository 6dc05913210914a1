package transcribe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/sound"
)

// Kind names Child among the jobs of package confined.
const Kind = "speech"

// options are what a child is told besides the file.
type options struct {
	Library, Dir string
	Threads      int
	Longest      time.Duration
}

func (o options) write() map[string]string {
	return map[string]string{"library": o.Library, "dir": o.Dir, "threads": strconv.Itoa(o.Threads), "longest": o.Longest.String()}
}

func readOptions(m map[string]string) (o options, err error) {
	o.Library, o.Dir = m["library"], m["dir"]
	threads, err1 := strconv.Atoi(m["threads"])
	longest, err2 := time.ParseDuration(m["longest"])
	o.Threads, o.Longest = threads, longest
	return o, errors.Join(err1, err2)
}

// Child hears a recording in the child process.
func Child(ctx context.Context, job confined.Job, _ string) (confined.Result, error) {
	o, err := readOptions(job.Options)
	if err != nil {
		return confined.Result{}, err
	}
	text, heard, err := hear(ctx, job.Input, o)
	if err != nil {
		return confined.Result{}, faultOf(err, o.Longest)
	}
	return confined.Result{Text: text, Meta: map[string]string{"seconds": strconv.FormatFloat(heard.Seconds(), 'f', 1, 64)}}, nil
}

// errTooLong and errNoWords are what a recording can be besides damaged.
var (
	errTooLong = errors.New("the recording is too long")
	errNoWords = errors.New("no words")
)

// faultOf makes a fault of what is wrong with the file.
func faultOf(err error, longest time.Duration) error {
	switch {
	case errors.Is(err, sound.ErrFormat):
		return &confined.Fault{Kind: confined.NoDecoder}
	case errors.Is(err, sound.ErrBroken):
		return &confined.Fault{Kind: confined.Broken, Detail: err.Error()}
	case errors.Is(err, errTooLong):
		return &confined.Fault{Kind: confined.TooLong, Detail: ">" + confined.Clock(longest)}
	case errors.Is(err, errNoWords):
		return &confined.Fault{Kind: confined.NoWords}
	}
	return err
}

// hear decodes a file and hears it part by part, so that a long one takes no more memory
// than a short one. The model is loaded when there is something to hear.
func hear(ctx context.Context, file string, o options) (_ string, heard time.Duration, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", 0, err
	}
	defer f.Close() // it was only read
	recording, finish, err := sound.Open(ctx, f)
	if err != nil {
		return "", 0, err
	}
	defer finish()
	p := &parts{from: recording}
	var model *moonshine
	defer func() {
		if model != nil {
			err = errors.Join(err, model.close())
		}
	}()
	var words []string
	for {
		part, err := p.next()
		heard = time.Duration(p.heard) * time.Second / sound.Rate
		switch {
		case errors.Is(err, io.EOF) && len(words) == 0:
			return "", heard, errNoWords
		case errors.Is(err, io.EOF):
			return strings.Join(words, " "), heard, nil
		case err != nil:
			return "", heard, err
		case heard > o.Longest+time.Second: // messengers round
			return "", heard, errTooLong
		case isSilent(part):
			continue
		}
		if model == nil {
			if model, err = openMoonshine(o.Library, o.Dir, o.Threads); err != nil {
				return "", heard, fmt.Errorf("load %s: %w", Model, err)
			}
		}
		louder(part)
		text, err := model.hear(ctx, part)
		if err != nil {
			return "", heard, err
		}
		if text != "" {
			words = append(words, text)
		}
	}
}

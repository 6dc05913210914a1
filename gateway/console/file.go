package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"klawbot/gateway"
)

// attachedFile is a file that a terminal sends: it lies on the bot's own machine.
type attachedFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

var _ gateway.Fetcher = (*Channel)(nil)

// fileUsage says how a file is sent.
const fileUsage = "usage: /file PATH [words]"

// withFile finds the file in what a person wrote: behind /file, or a path that was dropped
// or pasted alone. words are the rest.
func withFile(text string) (words string, file *attachedFile, err error) {
	rest, command := strings.CutPrefix(text, "/file")
	if command && (rest == "" || strings.ContainsAny(rest[:1], " \t\n")) {
		path, words := firstWord(strings.TrimSpace(rest))
		if path == "" {
			return "", nil, errors.New(fileUsage)
		}
		file, err = fileAt(path)
		return words, file, err
	}
	path, more := firstWord(strings.TrimSpace(text))
	if more != "" || !filepath.IsAbs(path) || strings.Contains(path, "\n") {
		return text, nil, nil
	}
	if file, err = fileAt(path); err != nil {
		return text, nil, nil // a command, or words
	}
	return "", file, nil
}

// firstWord cuts the first word off, as a shell or a window that a file is dropped into
// writes it: in quotes, with backslashes, as a file:// address.
func firstWord(text string) (word, rest string) {
	if len(text) > 0 && (text[0] == '\'' || text[0] == '"') {
		if inside, after, closed := strings.Cut(text[1:], text[:1]); closed {
			return plainPath(inside), strings.TrimSpace(after)
		}
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == ' ' || c == '\t' || c == '\n':
			return plainPath(b.String()), strings.TrimSpace(text[i:])
		default:
			b.WriteByte(c)
		}
	}
	return plainPath(b.String()), ""
}

// plainPath is a path without what stands for others: file:// and ~.
func plainPath(path string) string {
	if u, err := url.Parse(path); err == nil && u.Scheme == "file" {
		return u.Path
	}
	if inside, home := strings.CutPrefix(path, "~/"); home {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, inside)
		}
	}
	return path
}

func fileAt(path string) (*attachedFile, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no file %s in %s; /file sends a file of this machine", filepath.Base(full), filepath.Dir(full))
	case err != nil:
		return nil, fmt.Errorf("can't read %s; check its permissions", full)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name one file", full)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", full)
	}
	f, err := os.Open(full) // here the error can name the file
	if err != nil {
		return nil, fmt.Errorf("can't read %s; check its permissions", full)
	}
	return &attachedFile{full, info.Size()}, f.Close()
}

// attachment is a file as an attachment. What it is, its name says.
func (f *attachedFile) attachment() gateway.Attachment {
	a := gateway.Attachment{Kind: gateway.AttachDocument, File: f.Path, Name: filepath.Base(f.Path), Size: f.Size}
	switch strings.ToLower(filepath.Ext(f.Path)) {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp":
		a.Kind = gateway.AttachPhoto
	case ".ogg", ".oga", ".opus":
		a.Kind, a.MIME = gateway.AttachVoice, "audio/ogg"
	case ".mp3", ".wav", ".flac", ".m4a":
		a.Kind = gateway.AttachAudio
	}
	return a
}

// Fetch reads a file of this machine.
func (c *Channel) Fetch(_ context.Context, a gateway.Attachment, most int64, w io.Writer) error {
	f, err := os.Open(a.File)
	if err != nil {
		return &gateway.FetchError{Kind: gateway.FetchGone, Err: err}
	}
	defer f.Close() // nothing is written
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("not a file")
	case err == nil && info.Size() > most:
		return &gateway.FetchError{Kind: gateway.FetchTooBig, Err: fmt.Errorf("%d bytes", info.Size())}
	}
	if err != nil {
		return &gateway.FetchError{Kind: gateway.FetchGone, Err: err}
	}
	n, err := io.Copy(w, io.LimitReader(f, most+1))
	if err == nil && n > most {
		return &gateway.FetchError{Kind: gateway.FetchTooBig, Err: errors.New("it grows")}
	}
	return err
}

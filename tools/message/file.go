package message

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
)

// maxCaption is the longest caption, in characters.
const maxCaption = 1000

// The values of as.
const (
	asFile  = "file"
	asVoice = "voice"
)

// minAlbum and maxAlbum are how many files an album has.
const minAlbum, maxAlbum = 2, 10

type fileArgs struct {
	Path    string   `json:"path,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	As      string   `json:"as,omitempty" enum:"auto,file,voice"`
	Caption string   `json:"caption,omitempty"`
	ChatID  string   `json:"chatId,omitempty"`
}

// files are the paths of the files to send.
func (a fileArgs) files() ([]string, error) {
	paths := a.Paths
	if a.Path != "" && !slices.Contains(paths, a.Path) {
		paths = append([]string{a.Path}, paths...)
	}
	switch {
	case len(paths) == 0:
		return nil, errors.New("give path, or paths for an album of 2 to 10 files")
	case len(paths) > maxAlbum:
		return nil, fmt.Errorf("%d files are too many for an album of %d; send the rest with another call", len(paths), maxAlbum)
	case len(paths) >= minAlbum && a.As == asVoice:
		return nil, errors.New("an album has no voice messages; send each with a call of its own")
	}
	return paths, nil
}

func (m messenger) sendFile(ctx context.Context, c tools.Call, a fileArgs) tools.Result {
	if n := utf8.RuneCountInString(a.Caption); n > maxCaption {
		return tools.Fail(tools.Validation, fmt.Sprintf("caption has %d characters, %d are allowed; send the rest as a message", n, maxCaption))
	}
	chat, thread, err := a.target(c)
	if err != nil {
		return tools.Fail(tools.Validation, err.Error())
	}
	if err := m.door.Check(ctx, chat); err != nil {
		return unreachable(err)
	}
	paths, err := a.files()
	if err != nil {
		return tools.Fail(tools.Validation, err.Error())
	}
	var files []*tools.File
	for _, path := range paths {
		file, refused := m.fileAt(path, a.As)
		if refused != nil {
			for _, f := range files {
				f.Content.Close() // nothing was written
			}
			return *refused
		}
		files = append(files, file)
	}
	out := tools.Outgoing{Chat: chat, Thread: thread, Text: a.Caption, File: files[0]}
	done := fmt.Sprintf("OK: file %s sent to %s", files[0].Name, chat)
	if len(files) > 1 {
		out.File, out.Album = nil, files
		done = fmt.Sprintf("OK: album of %d files sent to %s", len(files), chat)
	}
	r := tools.OK(done)
	r.Outgoing = []tools.Outgoing{out}
	return r
}

// fileAt opens a file that is to be sent.
func (m messenger) fileAt(path, as string) (*tools.File, *tools.Result) {
	file, refused := m.openFile(path)
	if refused != nil {
		return nil, refused
	}
	f := &tools.File{Name: tools.FileName(path), Content: file}
	err := sendable(file)
	if err == nil && as == asVoice {
		f.Content, err = voiceMessage(file)
	}
	if err != nil {
		file.Close()
		r := tools.Fail(tools.Validation, fmt.Sprintf("%.200s %v", path, err))
		return nil, &r
	}
	if as == asFile || as == asVoice {
		f.As = as
	}
	return f, nil
}

// voiceMessage is a file that messengers show as a voice message.
func voiceMessage(file fs.File) (io.ReadCloser, error) {
	head := make([]byte, 64)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if head = head[:n]; !bytes.HasPrefix(head, []byte("OggS")) || !bytes.Contains(head, []byte("OpusHead")) {
		return nil, errors.New("is no voice message: that is Opus in an .ogg file")
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), file), file}, nil
}

// target is the chat that the call names, else its own chat and topic. An id without
// a messenger belongs to the messenger of the call.
func (a fileArgs) target(c tools.Call) (chat string, thread int64, err error) {
	id := strings.TrimSpace(a.ChatID)
	channel, _, _ := strings.Cut(c.Chat, "_")
	switch {
	case id == "" && c.Chat == "":
		return "", 0, errors.New("this call has no chat; give chatId, such as telegram_123456")
	case id == "", id == c.Chat:
		return c.Chat, c.Thread, nil
	case strings.Contains(id, "_"):
		if chat, thread = withTopic(id); thread == 0 && chat == c.Chat {
			thread = c.Thread
		}
		return chat, thread, nil
	case channel == "":
		return "", 0, errors.New("chatId needs its messenger, such as telegram_123456")
	case channel+"_"+id == c.Chat:
		return c.Chat, c.Thread, nil
	}
	return channel + "_" + id, 0, nil
}

// sendable reports why a file cannot be sent.
func sendable(file fs.File) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return errors.New("is empty; there is nothing to send")
	case info.Size() > tools.MaxFileBytes:
		return fmt.Errorf("has %d bytes, and %d can be sent; send a part of it", info.Size(), tools.MaxFileBytes)
	}
	return nil
}

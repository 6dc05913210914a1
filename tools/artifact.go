package tools

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"klawbot/internal/clip"
)

// The bounds of what one call hands to a chat.
const (
	// MaxFileBytes is how large a file may be that a messenger takes.
	MaxFileBytes = 50 << 20
	maxArtifacts = 10
	maxFileName  = 128 // bytes
)

// keepFiles copies the files that a result hands over or sends before the result is
// stored: the call's folder goes, and a file of the workspace may change.
func (e *Executor) keepFiles(c Call, r Result) Result {
	for _, m := range r.Outgoing {
		for _, f := range m.Files() {
			if err := e.keepFile(f); err != nil {
				return e.unsent(r, f.Name, err)
			}
		}
	}
	return e.artifacts(c, r)
}

// unsent is the result of a call whose file could not be kept: it sends nothing.
func (e *Executor) unsent(r Result, name string, err error) Result {
	for _, m := range r.Outgoing {
		for _, f := range m.Files() {
			f.Content.Close() // nothing was written
		}
	}
	r.Success, r.Outgoing, r.ErrorKind = false, nil, Execution
	r.Error = fmt.Sprintf("%s is not sent: %s", name, e.capture.clean(err.Error()))
	r.Output = "Error: " + r.Error
	return r
}

// artifacts keeps the files that go to the chat with the answer. It leaves out those
// that cannot be kept, and tells the model.
func (e *Executor) artifacts(c Call, r Result) Result {
	given := r.Artifacts
	beyond := max(len(given)-maxArtifacts, 0)
	r.Artifacts = nil
	var said []string
	for _, a := range given[:len(given)-beyond] {
		kept, err := e.keepArtifact(c, a)
		if err != nil {
			said = append(said, fmt.Sprintf("(%s is not sent: %s)", kept.Name, e.capture.clean(err.Error())))
			continue
		}
		r.Artifacts = append(r.Artifacts, kept)
		if c.Chat != "" {
			said = append(said, fmt.Sprintf("(%s goes to the chat with your answer)", kept.Name))
		}
	}
	if beyond > 0 {
		said = append(said, fmt.Sprintf("(%d more are not sent: a call hands over %d files at most)", beyond, maxArtifacts))
	}
	if len(said) > 0 {
		r.Output = strings.TrimPrefix(r.Output+"\n"+strings.Join(said, "\n"), "\n")
	}
	return r
}

// keepArtifact keeps one file and says where. The name is always fit to be shown.
func (e *Executor) keepArtifact(c Call, a Artifact) (Artifact, error) {
	if a.Name == "" {
		a.Name = filepath.Base(a.Path)
	}
	a.Name = FileName(e.capture.clean(a.Name))
	f, err := c.scratch.open(a.Path)
	if err != nil {
		return a, err
	}
	kept := File{Content: f, MIME: a.MIME}
	err = e.keepFile(&kept)
	a.MIME, a.Path = kept.MIME, kept.Path
	return a, err
}

// keepFile keeps the content of a file and says where. A text is kept without
// secrets; other content is not looked into.
func (e *Executor) keepFile(f *File) error {
	defer f.Content.Close() // nothing is written
	if e.keep == nil {
		return errors.New("no files can be sent from here")
	}
	limited := &io.LimitedReader{R: f.Content, N: MaxFileBytes + 1}
	content := bufio.NewReader(limited)
	head, err := content.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	kind := http.DetectContentType(head)
	f.MIME = cmp.Or(f.MIME, kind)
	var from io.Reader = content
	if strings.HasPrefix(kind, "text/") {
		from = e.capture.redact.Reader(content)
	}
	f.Path, err = e.keep(from)
	if err == nil && limited.N == 0 {
		err = fmt.Errorf("it has more than %d bytes", MaxFileBytes)
	}
	return err
}

// open opens a file of the folder, by its relative or absolute path. It must be a
// regular file without a hard link outside.
func (s *scratch) open(path string) (*os.File, error) {
	dir := s.made()
	if dir == "" {
		return nil, errors.New("it does not lie in the call's scratch directory")
	}
	if filepath.IsAbs(path) {
		inside, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(inside) {
			return nil, errors.New("it does not lie in the call's scratch directory")
		}
		path = inside
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file")
	}
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	info, err := f.Stat()
	if err == nil {
		err = handsOver(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// handsOver says why a file cannot be sent to a chat.
func handsOver(info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case ok && s.Nlink > 1:
		return errors.New("it has a second name (hard link)")
	case info.Size() == 0:
		return errors.New("it is empty")
	case info.Size() > MaxFileBytes:
		return fmt.Errorf("it has %d bytes, and %d can be sent", info.Size(), MaxFileBytes)
	}
	return nil
}

// FileName makes an untrusted name fit for a file in a chat: its last part, without
// control and format characters, bounded length.
func FileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	if len(name) > maxFileName { // its end tells the type
		end := filepath.Ext(name)
		if len(end) > 16 {
			end = ""
		}
		name = clip.Bytes(name, maxFileName-len(end)) + end
	}
	if name = strings.TrimSpace(name); name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

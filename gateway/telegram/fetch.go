package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

// fetchTimeout bounds the download of a file.
const fetchTimeout = 5 * time.Minute

// Fetch downloads a file. Its path is asked for each time: it lives for an hour.
func (c *Channel) Fetch(ctx context.Context, a gateway.Attachment, most int64, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	var file models.File
	if err := c.send.post(ctx, "getFile", map[string]any{"file_id": a.File}, &file); err != nil {
		return c.fetchFailure(ctx, err)
	}
	if file.FileSize > most {
		return &gateway.FetchError{Kind: gateway.FetchTooBig, Err: fmt.Errorf("%d bytes", file.FileSize)}
	}
	body, err := c.openFile(ctx, file.FilePath)
	if err != nil {
		return c.fetchFailure(ctx, err)
	}
	defer body.Close() // nothing is written
	n, err := io.Copy(w, &limitedErrors{body, most})
	switch {
	case err != nil:
		return c.fetchFailure(ctx, err)
	case file.FileSize > 0 && n != file.FileSize:
		return c.fetchFailure(ctx, &unsentError{fmt.Errorf("%d of %d bytes came", n, file.FileSize)})
	}
	return nil
}

// openFile opens a file by its path: below the server's address, or in filesRoot when
// the server lies on this machine and says where.
func (c *Channel) openFile(ctx context.Context, path string) (io.ReadCloser, error) {
	switch {
	case path == "":
		return nil, &apiError{code: http.StatusBadRequest, description: "getFile names no path"}
	case !filepath.IsAbs(path):
		return c.send.download(ctx, path)
	case c.filesRoot == "":
		return nil, &apiError{code: http.StatusBadRequest, description: "the server names a path of its own machine; set channels.telegram.filesRoot"}
	}
	inside, err := filepath.Rel(c.filesRoot, path)
	if err != nil || !filepath.IsLocal(inside) {
		return nil, &apiError{code: http.StatusBadRequest, description: "the server names a path outside channels.telegram.filesRoot"}
	}
	root, err := os.OpenRoot(c.filesRoot)
	if err != nil {
		return nil, err
	}
	defer root.Close() // the open file does not need it
	return root.Open(inside)
}

// download opens a file of the server. The address holds the token, so errors go
// without it.
func (a *api) download(ctx context.Context, path string) (io.ReadCloser, error) {
	var escaped []string
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." {
			return nil, &apiError{code: http.StatusBadRequest, description: "the server names a strange path"}
		}
		escaped = append(escaped, url.PathEscape(part))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/file/bot"+a.token+"/"+strings.Join(escaped, "/"), nil)
	if err != nil {
		return nil, a.redact.Error(err)
	}
	resp, err := a.client().Do(r)
	if err != nil {
		return nil, a.broken(err, false)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		return nil, &apiError{code: http.StatusBadRequest, description: "the file is not there any more"}
	}
	return nil, &apiError{code: resp.StatusCode, description: http.StatusText(resp.StatusCode)}
}

// tooLong is the error of a body that does not end in time.
type tooLong struct{ most int64 }

func (e tooLong) Error() string { return fmt.Sprintf("more than %d bytes", e.most) }

// limitedErrors reads at most left bytes; a body that has more is an error, and so that
// reading is told from writing, its errors are unsentErrors.
type limitedErrors struct {
	body io.Reader
	left int64
}

func (l *limitedErrors) Read(p []byte) (int, error) {
	n, err := l.body.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLong{l.left + int64(n)}
	}
	if err != nil && err != io.EOF {
		err = &unsentError{err}
	}
	return n, err
}

// fetchFailure turns what became of a download into what the caller does about it.
func (c *Channel) fetchFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded {
		return context.Cause(ctx)
	}
	failed := &gateway.FetchError{Kind: gateway.FetchRetry, Err: c.redact.Error(err)}
	_, long := errors.AsType[tooLong](err)
	refusal, refused := errors.AsType[*apiError](err)
	switch _, unsent := errors.AsType[*unsentError](err); {
	case long, says(err, "file is too big"):
		failed.Kind = gateway.FetchTooBig
	case refused && refusal.code == http.StatusTooManyRequests:
		failed.RetryAfter = max(refusal.retryAfter, time.Second)
	case refused && denied(refusal):
		failed.Kind = gateway.FetchStopped
	case refused && refusal.code < http.StatusInternalServerError, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		failed.Kind = gateway.FetchGone
	case unsent, refused:
	case errors.Is(err, context.DeadlineExceeded):
	default:
		if _, unclear := errors.AsType[*unclearError](err); !unclear {
			return err // that of the writer
		}
	}
	return failed
}

package embed

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
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

	"klawbot/internal/atomicfile"
)

// Pull downloads assets to a folder and checks each against its hash. Files that are
// complete stay; an interrupted download resumes.
type Pull struct {
	// Client follows redirects, as the publishers need it.
	Client *http.Client
	Dir    string
	// From is a folder or an address that has the files at their paths; empty is
	// where they are published.
	From string
	// Progress is told how many bytes of an asset are there and how many it has, 0
	// when that is not known. It may be nil.
	Progress func(a Asset, done, total int64)
	// Patience is how long nothing may come of a download; 0 means 30 seconds.
	Patience time.Duration
	// Most is how many bytes of a file are taken; 0 means 1 GiB.
	Most int64
}

// attempts bounds the tries in a row that bring no new byte.
const attempts = 3

// Bring downloads one asset. The error names the file.
func (p Pull) Bring(ctx context.Context, a Asset) error {
	if err := a.Check(p.Dir); err == nil {
		size := sizeOf(filepath.Join(p.Dir, filepath.FromSlash(a.Path)))
		p.progress(a, size, size)
		return nil
	}
	target := filepath.Join(p.Dir, filepath.FromSlash(a.Path))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	part := target + ".part"
	if err := p.fetch(ctx, a, part); err != nil {
		if errors.Is(err, errTooMuch) {
			err = errors.Join(err, os.Remove(part))
		}
		return fmt.Errorf("download %s: %w", a.Path, err)
	}
	if p.From == "" && a.Member != "" {
		if err := unpack(a, part); err != nil {
			return errors.Join(fmt.Errorf("download %s: %w", a.Path, err), os.Remove(part))
		}
	}
	partial := a
	partial.Path += ".part"
	if err := partial.Check(p.Dir); err != nil {
		return errors.Join(fmt.Errorf("download %s: %w", a.Path, err), os.Remove(part))
	}
	return atomicfile.Rename(part, target)
}

func (p Pull) progress(a Asset, done, total int64) {
	if p.Progress != nil {
		p.Progress(a, done, total)
	}
}

// fetch puts what is published into a file.
func (p Pull) fetch(ctx context.Context, a Asset, file string) error {
	switch {
	case strings.HasPrefix(p.From, "http://") || strings.HasPrefix(p.From, "https://"):
		return p.persist(ctx, a, strings.TrimSuffix(p.From, "/")+"/"+a.Path, file)
	case p.From != "":
		return p.copyFile(a, filepath.Join(p.From, filepath.FromSlash(cmp.Or(a.File, a.Path))), file)
	}
	if a.URL == "" {
		return errUnpublished
	}
	return p.persist(ctx, a, a.URL, file)
}

// errUnpublished is the error of Bring for a file of package registries.
var errUnpublished = errors.New("it comes from the npm package onnxruntime-node: run make assets, then klawbot assets pull --from build/assets")

func (p Pull) copyFile(a Asset, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, &metered{Reader: in, tell: func(n int64) { p.progress(a, n, info.Size()) }})
	return err
}

// persist downloads and resumes after a broken connection.
func (p Pull) persist(ctx context.Context, a Asset, address, file string) error {
	for had, left := sizeOf(file), attempts; ; {
		err := p.download(ctx, a, address, file)
		if errors.Is(err, errBroken) && ctx.Err() == nil {
			if have := sizeOf(file); have > had {
				had, left = have, attempts
			}
			if left--; left > 0 {
				continue
			}
		}
		return err
	}
}

// sizeOf is 0 for a file that is not there.
func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// errBroken is the kind of error of a download that broke off.
var errBroken = errors.New("the download broke off")

// errTooMuch is the error of an address that sends more than a model has.
var errTooMuch = errors.New("this is not a model file")

// most is how much to take of a file.
func (p Pull) most() int64 { return cmp.Or(p.Most, 1<<30) }

// download appends to a file what an address still has. It ends when nothing
// comes for a while.
func (p Pull) download(ctx context.Context, a Asset, address, file string) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	response, err := p.ask(ctx, cancel, address, have)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
	case http.StatusRequestedRangeNotSatisfiable: // it was complete
		return nil
	case http.StatusOK:
		if err := out.Truncate(0); err != nil {
			return err
		}
		if have, err = out.Seek(0, io.SeekStart); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s answered %s", address, response.Status)
	}
	return p.receive(ctx, cancel, a, response, out, have)
}

// patience is how long to wait when nothing comes.
func (p Pull) patience() time.Duration { return cmp.Or(p.Patience, 30*time.Second) }

// ask asks an address for what comes behind so many bytes. It cancels ctx when no
// answer comes.
func (p Pull) ask(ctx context.Context, cancel context.CancelCauseFunc, address string, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	stalled := time.AfterFunc(p.patience(), func() { cancel(fmt.Errorf("%s does not answer within %s", address, p.patience())) })
	response, err := p.Client.Do(request)
	inTime := stalled.Stop()
	switch {
	case err == nil && inTime:
		return response, nil
	case err == nil:
		response.Body.Close() // nothing was read of it
		return nil, context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // the address is long and says little
		err = fmt.Errorf("%s: %w", request.URL.Host, e.Err)
	}
	return nil, cmp.Or(context.Cause(ctx), err)
}

// receive appends the answer to a file that has so many bytes of it. It cancels
// ctx when nothing comes.
func (p Pull) receive(ctx context.Context, cancel context.CancelCauseFunc, a Asset, response *http.Response, out io.Writer, have int64) error {
	stalled := time.AfterFunc(p.patience(), func() { cancel(fmt.Errorf("%w: nothing came for %s", errBroken, p.patience())) })
	defer stalled.Stop()
	total := max(0, response.ContentLength)
	if total > 0 {
		total += have
	}
	body := &metered{Reader: response.Body, n: have, tell: func(n int64) {
		stalled.Reset(p.patience())
		p.progress(a, n, total)
	}}
	_, err := io.Copy(out, io.LimitReader(body, p.most()+1-have))
	switch {
	case body.n > p.most():
		return fmt.Errorf("more than %d bytes came: %w", p.most(), errTooMuch)
	case err == nil:
		return nil
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case body.err == nil: // it is the file that failed
		return err
	}
	return fmt.Errorf("%w: %w", errBroken, err)
}

// metered tells how much was read, and keeps why reading failed.
type metered struct {
	io.Reader
	n    int64
	tell func(int64)
	err  error
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	m.tell(m.n)
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}

// unpack puts a member of an archive in the place of the archive.
func unpack(a Asset, file string) error {
	got, err := hashOf(file)
	if err == nil && got != a.Archive {
		err = fmt.Errorf("the archive is not the expected one (SHA-256 %s)", got)
	}
	if err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	packed, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the archive has no %s: %w", a.Member, fs.ErrNotExist)
		}
		if err != nil {
			return err
		}
		if strings.TrimPrefix(h.Name, "./") == a.Member && h.Typeflag == tar.TypeReg {
			return atomicfile.Fill(file, 0o644, func(f *os.File) error {
				_, err := io.Copy(f, r)
				return err
			})
		}
	}
}

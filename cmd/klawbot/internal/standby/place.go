package standby

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"klawbot/internal/atomicfile"
	"klawbot/internal/httpclient"
)

// place is where the replica is. Names are relative, with slashes.
type place interface {
	// open reads an object; fs.ErrNotExist when there is none.
	open(ctx context.Context, name string) (io.ReadCloser, error)
	// put writes an object in full or not at all. With fresh it fails with
	// fs.ErrExist if the object is there, and of two writers one wins.
	put(ctx context.Context, name string, o object, fresh bool) error
	// list returns the names below a folder, in order.
	list(ctx context.Context, folder string) ([]string, error)
	// remove removes an object; one that is gone is no error.
	remove(ctx context.Context, name string) error
	// replica is what Litestream's configuration says of a folder of the place, and
	// the environment that it needs.
	replica(folder string) (settings map[string]any, environ []string)
}

// object is the content of an object.
type object struct {
	body io.Reader
	size int64
	sum  string // SHA-256, in hex
}

func text(b []byte) object {
	sum := sha256.Sum256(b)
	return object{bytes.NewReader(b), int64(len(b)), hex.EncodeToString(sum[:])}
}

// marker is the object that tells a replica from an empty directory.
const marker = "klawbot-replica"

// maxRecord bounds what is read into memory.
const maxRecord = 64 << 20

func read(ctx context.Context, p place, name string) ([]byte, error) {
	r, err := p.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxRecord))
}

func newPlace(c Config) place {
	if u, err := url.Parse(c.To); err == nil && u.Scheme == "s3" {
		return &bucket{
			http: httpclient.New(httpclient.Options{Proxy: true}), name: u.Host, prefix: strings.Trim(u.Path, "/"), endpoint: strings.TrimRight(c.Endpoint, "/"),
			region: cmp.Or(c.Region, "us-east-1"), key: c.AccessKeyID, secret: c.SecretAccessKey,
		}
	}
	return folder(c.To)
}

// folder is a place on a disk that both hosts mount.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

func (f folder) open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(f.path(name))
}

// put needs the marker: without it the disk isn't mounted, and what is written would be
// seen by this host alone.
func (f folder) put(_ context.Context, name string, o object, fresh bool) error {
	must := f.path(marker)
	if name == marker {
		must = string(f)
	}
	if _, err := os.Stat(must); err != nil {
		return fmt.Errorf("is the replica's disk mounted? %w", err)
	}
	file := f.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	fill := func(to *os.File) error {
		_, err := io.Copy(to, o.body)
		return err
	}
	if !fresh {
		return atomicfile.Fill(file, 0o600, fill)
	}
	// A link is made only if its name is free, on network file systems too.
	whole := file + ".new-" + newID()
	defer func() { _ = os.Remove(whole) }()
	if err := atomicfile.Fill(whole, 0o600, fill); err != nil {
		return err
	}
	return os.Link(whole, file)
}

func (f folder) list(_ context.Context, under string) (names []string, err error) {
	err = filepath.WalkDir(f.path(under), func(file string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || d.IsDir():
			return err
		}
		rel, err := filepath.Rel(string(f), file)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(names)
	return names, err
}

func (f folder) remove(_ context.Context, name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) replica(under string) (settings map[string]any, environ []string) {
	return map[string]any{"type": "file", "path": f.path(path.Clean(under))}, nil
}

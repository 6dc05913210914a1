package localmodel

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/sqlite"
	"klawbot/internal/atomicfile"
)

// Where models and llama.cpp are published, and the release that is used: its flags
// are those of this package.
const (
	Hub      = "https://huggingface.co"
	Releases = "https://api.github.com/repos/ggml-org/llama.cpp/releases/tags/"
	Release  = "b10068"
)

// platforms are the archives of a release, by operating system and processor.
var platforms = map[string]string{
	"linux/amd64": "ubuntu-x64", "linux/arm64": "ubuntu-arm64", "darwin/arm64": "macos-arm64",
}

// Pull downloads a model and the program that runs it.
type Pull struct {
	// Files downloads; its Dir is the folder of assets and its From where the files
	// are instead: a folder or an address that is laid out like the folder of assets.
	Files embed.Pull
	// Hub and Releases are other addresses than the usual ones, for tests.
	Hub, Releases string
}

// lock pins what was pulled first.
type lock struct {
	SHA256 string    `json:"sha256"`
	Size   int64     `json:"size"`
	Commit string    `json:"commit,omitempty"`
	Pulled time.Time `json:"pulled"`
}

// Model downloads the weights of a model. A file that is not what the hub states is
// removed.
func (p Pull) Model(ctx context.Context, e Entry) error {
	folder := path.Join("llm", e.Name)
	asset := embed.Asset{Path: folder + "/" + pulledWeights}
	if p.Files.From == "" {
		pointer, err := p.pointer(ctx, e)
		if err != nil {
			return err
		}
		if err := p.pinned(e, folder, pointer); err != nil {
			return err
		}
		asset.URL = p.hub() + "/" + e.Repo + "/resolve/" + pointer.Commit + "/" + e.File
		asset.Size, asset.Hashes = pointer.Size, []string{pointer.SHA256}
		p.Files.Most = pointer.Size
		if err := p.roomFor(pointer.Size); err != nil {
			return err
		}
		if err := p.bring(ctx, asset); err != nil {
			return err
		}
		return p.pin(folder, pointer)
	}
	return p.copy(ctx, embed.Asset{Path: asset.Path, File: p.inFolder(asset.Path, e.File, e.Name+".gguf", pulledWeights)})
}

// bring takes a file from its publisher, or from where files are instead.
func (p Pull) bring(ctx context.Context, a embed.Asset) error {
	err := p.Files.Bring(ctx, a)
	switch {
	case err == nil || p.Files.From != "":
		return err
	case errors.Is(err, embed.ErrUnexpected):
		return fmt.Errorf("%s is not what the hub states; removed, pull again", path.Base(a.URL))
	}
	return fmt.Errorf("%w; run the command again to resume", err)
}

// inFolder is the first of some files that the folder has from which files are taken,
// "" for none of them.
func (p Pull) inFolder(names ...string) string {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(p.Files.From, filepath.FromSlash(name))); err == nil {
			return name
		}
	}
	return ""
}

// pointer is what the hub states of a file: large files are kept beside it under
// their SHA-256 (https://git-lfs.com/spec.html).
func (p Pull) pointer(ctx context.Context, e Entry) (l lock, err error) {
	response, err := p.get(ctx, p.hub()+"/"+e.Repo+"/raw/main/"+e.File)
	if err != nil {
		return l, err
	}
	defer response.Body.Close()
	l.Commit, l.Pulled = response.Header.Get("X-Repo-Commit"), time.Now().UTC()
	if l.Commit == "" {
		l.Commit = "main"
	}
	for lines := bufio.NewScanner(io.LimitReader(response.Body, 4<<10)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), " ")
		switch key {
		case "oid":
			l.SHA256 = strings.TrimPrefix(value, "sha256:")
		case "size":
			l.Size, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	if len(l.SHA256) != 64 || l.Size <= 0 {
		return l, fmt.Errorf("the hub states no checksum of %s/%s", e.Repo, e.File)
	}
	return l, nil
}

// roomFor refuses a download that the disk has no room for.
func (p Pull) roomFor(size int64) error {
	if err := os.MkdirAll(p.Files.Dir, 0o755); err != nil {
		return err
	}
	free, err := sqlite.FreeSpace(p.Files.Dir)
	if err == nil && free < uint64(size) {
		return fmt.Errorf("the model needs %.1f GB of disk, %.1f are free in %s", float64(size)/gb, float64(free)/gb, p.Files.Dir)
	}
	return err
}

func (p Pull) hub() string { return orDefault(p.Hub, Hub) }

func orDefault(v, usual string) string {
	if v == "" {
		return usual
	}
	return v
}

func (p Pull) get(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := p.Files.Client.Do(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answered %s", address, response.Status)
	}
	return response, nil
}

// pinned compares what the hub states now with the first pull.
func (p Pull) pinned(e Entry, folder string, now lock) error {
	text, err := os.ReadFile(p.lockFile(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var had lock
	if err == nil {
		err = json.Unmarshal(text, &had)
	}
	if err != nil {
		return err
	}
	if had.SHA256 != now.SHA256 {
		return fmt.Errorf("%s changed since %s; delete %s to accept it", e.File, had.Pulled.Format(time.DateOnly), p.lockFile(folder))
	}
	return nil
}

func (p Pull) pin(folder string, l lock) error {
	if _, err := os.Stat(p.lockFile(folder)); err == nil {
		return nil
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(p.lockFile(folder), append(text, '\n'), 0o644)
}

func (p Pull) lockFile(folder string) string {
	return filepath.Join(p.Files.Dir, filepath.FromSlash(folder), "lock.json")
}

// copy takes weights from a folder or an address that is laid out like the folder of
// assets, or from a folder that has the file as it was downloaded. There, its head is all
// that tells what it is.
func (p Pull) copy(ctx context.Context, a embed.Asset) error {
	if err := p.Files.Bring(ctx, a); err != nil {
		return err
	}
	return CheckWeights(filepath.Join(p.Files.Dir, filepath.FromSlash(a.Path)))
}

// Program downloads llama.cpp, unless it is there.
func (p Pull) Program(ctx context.Context) error {
	folder := path.Join("llm", "llama.cpp", Release)
	target := filepath.Join(p.Files.Dir, filepath.FromSlash(folder))
	if _, err := os.Stat(filepath.Join(target, "llama-server")); err == nil {
		return nil
	}
	archive := embed.Asset{Path: folder + ".tar.gz"}
	if p.Files.From != "" {
		archive.File = p.inFolder(archive.Path, archiveName(platforms[runtime.GOOS+"/"+runtime.GOARCH]))
	} else {
		var err error
		if archive, err = p.published(ctx, archive.Path); err != nil {
			return err
		}
	}
	if err := p.bring(ctx, archive); err != nil {
		return err
	}
	file := filepath.Join(p.Files.Dir, filepath.FromSlash(archive.Path))
	if err := unpackAll(file, target); err != nil {
		return errors.Join(fmt.Errorf("unpack %s: %w", file, err), os.RemoveAll(target))
	}
	return os.Remove(file)
}

// archiveName is the name of the archive of the release for a platform.
func archiveName(platform string) string { return "llama-" + Release + "-bin-" + platform + ".tar.gz" }

// published is the archive of the release for this machine, with the checksum that the
// release states.
func (p Pull) published(ctx context.Context, name string) (a embed.Asset, err error) {
	machine := runtime.GOOS + "/" + runtime.GOARCH
	platform, ok := platforms[machine]
	if !ok {
		return a, fmt.Errorf("llama.cpp has no release for %s: install llama-server and set the key program", machine)
	}
	response, err := p.get(ctx, orDefault(p.Releases, Releases)+Release)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	var release struct {
		Assets []struct {
			Name   string `json:"name"`
			Size   int64  `json:"size"`
			Digest string `json:"digest"`
			URL    string `json:"browser_download_url"`
		} `json:"assets"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 4<<20)).Decode(&release); err != nil {
		return a, err
	}
	for _, r := range release.Assets {
		if r.Name == archiveName(platform) {
			digest, ok := strings.CutPrefix(r.Digest, "sha256:")
			if !ok {
				return a, fmt.Errorf("the release states no checksum of %s", r.Name)
			}
			return embed.Asset{Path: name, URL: r.URL, Size: r.Size, Hashes: []string{digest}}, nil
		}
	}
	return a, fmt.Errorf("release %s of llama.cpp has no archive for %s", Release, platform)
}

// maxProgram bounds an unpacked archive, in bytes.
const maxProgram = 2 << 30

// unpackAll puts the files of an archive into one folder: the program looks for its
// libraries beside itself.
func unpackAll(archive, target string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	left := int64(maxProgram)
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Join(target, path.Base(h.Name))
		switch h.Typeflag {
		case tar.TypeReg:
			if left -= h.Size; left < 0 {
				return errors.New("the archive is too large")
			}
			if err := writeFile(name, files, os.FileMode(h.Mode)&0o755|0o600); err != nil {
				return err
			}
		case tar.TypeSymlink: // of a library to its version, in the same folder
			if err := os.Symlink(path.Base(h.Linkname), name); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
}

func writeFile(name string, from io.Reader, mode os.FileMode) (err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, from)
	return err
}

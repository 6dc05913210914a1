package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
)

// The names in an archive.
const (
	archiveMessages  = "conversations.jsonl"
	archiveWorkspace = "workspace"
)

func exportCommand(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Write conversations and workspace to a file",
		Long: "Writes all conversations and the workspace to FILE, a .tar.gz that klawbot import reads.\n" +
			"With --format json or md it writes only the conversations. FILE - is standard output.",
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "tar" && format != "json" && format != "md" {
				return usage.Errorf("--format must be tar, json or md")
			}
			return a.export(cmd.Context(), args[0], format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "tar", "`form`: tar, json or md")
	return cmd
}

func (a *app) export(ctx context.Context, name, format string) error {
	return a.withData(ctx, func(_ *config.Live, f config.Folders, d *engine.Data) error {
		return toFile(a.stdout, name, func(w io.Writer) error {
			if format != "tar" {
				return d.Export(ctx, w, format)
			}
			return exportArchive(ctx, w, d, f.Workspace)
		})
	})
}

// toFile writes a file, whole or not at all, or standard output.
func toFile(w io.Writer, name string, write func(io.Writer) error) (err error) {
	if name == "-" {
		return write(terminal.Unwrap(w))
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".klawbot-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	if err = errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func exportArchive(ctx context.Context, w io.Writer, d *engine.Data, workspace string) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	if err := archiveConversations(ctx, archive, d); err != nil {
		return err
	}
	if err := archiveFolder(archive, workspace); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(archive.Close(), zipped.Close())
}

// archiveConversations goes through a file, because an archive wants to know
// the size first.
func archiveConversations(ctx context.Context, archive *tar.Writer, d *engine.Data) (err error) {
	f, err := os.CreateTemp("", "klawbot-export-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := d.Export(ctx, f, "json"); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	header := &tar.Header{Name: archiveMessages, Mode: 0o600, Size: size, ModTime: time.Now()}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return err
}

// archiveFolder adds the regular files below dir. Links stay behind: what they
// point to may be outside.
func archiveFolder(archive *tar.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		info, err := f.Stat()
		if err != nil {
			return err
		}
		header := &tar.Header{
			Name: path.Join(archiveWorkspace, name), Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime(),
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.CopyN(archive, f, info.Size())
		return err
	})
}

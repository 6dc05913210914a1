package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/engine"
)

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Read conversations and workspace from a file",
		Long: "Adds what klawbot export wrote: messages that are not there yet, and files that the workspace lacks.\n" +
			"Nothing is replaced. FILE may also hold only conversations (--format json). FILE - is standard input.",
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.importFile(cmd.Context(), args[0]) },
	}
}

func (a *app) importFile(ctx context.Context, name string) error {
	in := io.NopCloser(a.stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		in = f
	}
	defer func() { _ = in.Close() }() // it was only read
	if err := a.found(ctx); err != nil {
		return err
	}
	return a.withData(ctx, func(_ *live, f folders, d *engine.Data) error {
		messages, files, err := importAny(ctx, in, d, f.workspace)
		if err != nil {
			err = fmt.Errorf("import %s: %w", name, err)
		}
		if err == nil || messages+files > 0 {
			fmt.Fprintf(a.stdout, "added %s and %s\n", plural(messages, "message", "messages"), plural(files, "file", "files"))
		}
		return err
	})
}

// found makes the database of a data folder where no bot has run yet.
func (a *app) found(ctx context.Context) error {
	l, err := a.open()
	if err != nil {
		return err
	}
	f, err := a.folders(l.config())
	if err != nil {
		return err
	}
	if _, err := askStatus(ctx, f.data); !errors.Is(err, errNotRunning) {
		return err
	}
	p, err := a.wire(l, f, which{console: true}, newLog(io.Discard, l, a.redact))
	if err != nil {
		return err
	}
	e, err := p.start(ctx)
	if err != nil {
		return err
	}
	return e.Close()
}

// importAny tells an archive from plain lines by its first bytes.
func importAny(ctx context.Context, in io.Reader, d *engine.Data, workspace string) (messages, files int, err error) {
	r := bufio.NewReader(in)
	if head, _ := r.Peek(2); string(head) != "\x1f\x8b" { // a short file is no archive either
		messages, err = d.Import(ctx, r)
		return messages, 0, err
	}
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return 0, 0, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return messages, files, nil
		}
		if err != nil {
			return messages, files, err
		}
		name, ours := strings.CutPrefix(path.Clean(header.Name), archiveWorkspace+"/")
		switch {
		case header.Name == archiveMessages:
			messages, err = d.Import(ctx, archive)
		case ours && header.Typeflag == tar.TypeReg:
			var added bool
			if added, err = addFile(root, filepath.FromSlash(name), archive, header.FileInfo().Mode().Perm()); added {
				files++
			}
		}
		if err == nil && path.Base(header.Name) == "klawbot.db" {
			err = errors.New("this is a backup: klawbot restore reads it")
		}
		if err != nil {
			return messages, files, err
		}
	}
}

// addFile writes a file that is not there yet, whole or not at all: half a file
// would be there for the next try. The root lets nothing out of the workspace,
// whatever the archive says.
func addFile(root *os.Root, name string, from io.Reader, mode fs.FileMode) (added bool, err error) {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, errors.Join(err, root.Remove(name))
	}
	return true, nil
}

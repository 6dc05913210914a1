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
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/internal/atomicfile"
)

// The names in an archive.
const (
	archiveMessages  = "conversations.jsonl"
	archiveWorkspace = "workspace"
	archiveMedia     = "media"
)

func exportCommand(a *app) *cobra.Command {
	var format string
	var force bool
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Export conversations and workspace to a file",
		Long: "Writes all conversations and the workspace to FILE, a .tar.gz that klawbot import reads.\n" +
			"With --format json or md it writes only the conversations. FILE - is standard output.",
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "tar" && format != "json" && format != "md" {
				return usage.Errorf("--format must be tar, json or md")
			}
			if _, err := os.Lstat(args[0]); err == nil && args[0] != "-" && !force {
				return fmt.Errorf("%s exists; nothing was written (--force replaces it)", args[0])
			}
			return a.export(cmd.Context(), args[0], format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "tar", "`form`: tar, json or md")
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return cmd
}

func (a *app) export(ctx context.Context, name, format string) error {
	return a.withData(ctx, func(_ *config.Live, f config.Folders, d *data.Data) error {
		chats, err := d.Sessions(ctx)
		if err != nil {
			return err
		}
		files := 0
		err = toFile(a.stdout, name, func(w io.Writer) (err error) {
			if format != "tar" {
				return d.Export(ctx, w, format)
			}
			files, err = exportArchive(ctx, w, d, f.Data, f.Workspace)
			return err
		})
		if err != nil || name == "-" {
			return err
		}
		return a.exported(name, len(chats), files, format)
	})
}

// exported says what an export has written.
func (a *app) exported(name string, chats, files int, format string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	what := terminal.Plural(chats, "chat", "chats")
	if format == "tar" {
		what += ", " + terminal.Plural(files, "file", "files")
	}
	_, err = fmt.Fprintf(a.stdout, "Written: %s (%s, %s)\n", name, what, terminal.Megabytes(info.Size()))
	return err
}

// toFile writes a file, whole or not at all, or standard output.
func toFile(w io.Writer, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(terminal.Unwrap(w))
	}
	return atomicfile.Fill(name, 0o600, func(f *os.File) error { return write(f) })
}

// exportArchive writes the conversations, the workspace and the files of messages, and
// counts the files.
func exportArchive(ctx context.Context, w io.Writer, d *data.Data, dir, workspace string) (files int, err error) {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	if err := archiveConversations(ctx, archive, d); err != nil {
		return 0, err
	}
	for _, f := range [][2]string{{workspace, archiveWorkspace}, {filepath.Join(dir, archiveMedia), archiveMedia}} {
		n, err := archiveFolder(archive, f[0], f[1])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
		files += n
	}
	return files, errors.Join(archive.Close(), zipped.Close())
}

// archiveConversations goes through a file, because an archive wants to know
// the size first.
func archiveConversations(ctx context.Context, archive *tar.Writer, d *data.Data) (err error) {
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

// archiveFolder adds the regular files below dir as those of a folder, and counts them.
// Links stay behind: what they point to may be outside.
func archiveFolder(archive *tar.Writer, dir, folder string) (files int, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }() // it was only read
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
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
			Name: path.Join(folder, name), Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime(),
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		files++
		_, err = io.CopyN(archive, f, info.Size())
		return err
	})
	return files, err
}

func importCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Import conversations and workspace from a file",
		Long: "Adds what klawbot export wrote: messages that are not there yet, and files that the workspace lacks.\n" +
			"Nothing is replaced. FILE may also hold only conversations (--format json). FILE - is standard input.",
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return importFile(cmd.Context(), a, args[0]) },
	}
}

func importFile(ctx context.Context, a *app, name string) error {
	in := a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	if err := a.found(ctx); err != nil {
		return err
	}
	return a.withData(ctx, func(_ *config.Live, f config.Folders, d *data.Data) error {
		messages, files, err := importAny(ctx, in, d, f)
		if err != nil {
			err = fmt.Errorf("import %s: %w", name, err)
		}
		if err == nil || messages+files > 0 {
			fmt.Fprintf(a.stdout, "added %s and %s\n", terminal.Plural(messages, "message", "messages"), terminal.Plural(files, "file", "files"))
		}
		return err
	})
}

// found makes the database of a data directory where no bot has run yet.
func (a *app) found(ctx context.Context) error {
	l, f, err := a.openFolders()
	if err != nil {
		return err
	}
	if _, err := bot.AskStatus(ctx, f.Data); !errors.Is(err, bot.ErrNotRunning) {
		return err
	}
	c := a.botConfig(l, f, bot.NewLog(io.Discard, l, a.redact, slog.LevelDebug))
	c.Console = true
	p, err := bot.New(c)
	if err != nil {
		return err
	}
	return p.Found(ctx)
}

// importAny tells an archive from plain lines by its first bytes.
func importAny(ctx context.Context, in io.Reader, d *data.Data, f config.Folders) (messages, files int, err error) {
	r := bufio.NewReader(in)
	if head, _ := r.Peek(2); string(head) != "\x1f\x8b" { // a short file is no archive either
		messages, err = d.Import(ctx, r)
		return messages, 0, err
	}
	// It is read twice: nothing of an archive that is refused may stay.
	file, err := spooled(in, r, f.Data)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if file != in {
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
	}()
	root, err := os.OpenRoot(f.Workspace)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := checkArchive(ctx, file, root); err != nil {
		return 0, 0, err
	}
	return importArchive(ctx, file, d, root)
}

// spooled is in when it is a file, or a file in dir with all that r reads of it.
func spooled(in, r io.Reader, dir string) (*os.File, error) {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
	}
	f, err := os.CreateTemp(dir, ".import-*")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, r); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// checkArchive reads an archive to its end and returns why it is refused. What is
// whole of a broken one is imported.
func checkArchive(ctx context.Context, file *os.File, root *os.Root) error {
	archive, err := reread(file, root)
	for err == nil && ctx.Err() == nil {
		var h *tar.Header
		if h, err = archive.Next(); err != nil {
			break
		}
		name, ours := workspaceName(h)
		if _, lacks := root.Lstat(name); h.Name == archiveMessages || mediaFile.MatchString(h.Name) {
			err = archive.Take(h.Size)
		} else if ours && errors.Is(lacks, fs.ErrNotExist) {
			err = archive.Keep(name, h.Size)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, archive)
		}
	}
	if errors.Is(err, data.ErrSwells) {
		return err
	}
	return ctx.Err()
}

// mediaFile is the name of a file of a message, by its sum.
var mediaFile = regexp.MustCompile(`^media/[0-9a-f]{2}/[0-9a-f]{64}$`)

// workspaceName is the name of a file of the workspace in an archive; ours is
// false for anything else.
func workspaceName(h *tar.Header) (name string, ours bool) {
	name, ours = strings.CutPrefix(path.Clean(h.Name), archiveWorkspace+"/")
	return filepath.FromSlash(name), ours && h.Typeflag == tar.TypeReg
}

func reread(file *os.File, root *os.Root) (*data.Unpacker, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return data.Unpack(bufio.NewReader(file), info.Size(), root.Name())
}

func importArchive(ctx context.Context, file *os.File, d *data.Data, root *os.Root) (messages, files int, err error) {
	archive, err := reread(file, root)
	if err != nil {
		return 0, 0, err
	}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return messages, files, nil
		}
		if err != nil {
			return messages, files, err
		}
		name, ours := workspaceName(header)
		switch {
		case header.Name == archiveMessages:
			messages, err = d.Import(ctx, archive)
		case mediaFile.MatchString(header.Name) && header.Typeflag == tar.TypeReg:
			var added bool
			if added, err = d.ImportMedia(ctx, path.Base(header.Name), archive); added {
				files++
			}
		case ours:
			var added bool
			if added, err = addFile(root, name, archive, header.FileInfo().Mode().Perm()); added {
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

package file

import (
	"context"
	"io/fs"
	"slices"

	"klawbot/tools"
)

// visitor gets everything below a directory, with its path from there. It may
// return fs.SkipDir and fs.SkipAll.
type visitor func(name string, e fs.DirEntry) error

// walkDir visits what is below a directory, sorted, and does not follow links. It
// leaves out the directories of skipped and our temporary files.
func walkDir(ctx context.Context, p place, visit visitor) error {
	info, err := p.root.Lstat(p.name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return tools.Refuse(tools.NotFound, "directory not found: %s (it is a file)", quote(p.shown))
	}
	folder, err := p.root.OpenRoot(p.name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return fs.WalkDir(folder.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || name == ".":
			return nil // the directory itself was visited
		case e.IsDir() && slices.Contains(skipped(), e.Name()):
			return fs.SkipDir
		case temporaryName(e.Name()):
			return nil
		}
		return visit(name, e)
	})
}

// skipped are directories with many files that say little.
func skipped() []string { return []string{".git", "node_modules", "__pycache__", ".venv"} }

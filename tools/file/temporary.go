package file

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The begin and the end of the names of new contents that are not in place yet.
const (
	temporaryPrefix = ".klawbot-"
	temporarySuffix = ".tmp"
)

func newTemporaryName() string { return temporaryPrefix + rand.Text() + temporarySuffix }

// temporaryName reports whether a name is one that newTemporaryName returns.
func temporaryName(name string) bool {
	middle, ok := strings.CutPrefix(name, temporaryPrefix)
	middle, end := strings.CutSuffix(middle, temporarySuffix)
	return ok && end && len(middle) == len(rand.Text()) && strings.Trim(middle, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Sweep removes the temporary files that a kill has left in a workspace and
// returns how many. It looks into every folder, so it runs beside the start and
// not before it. Nothing is written while it works. A workspace that does not
// exist has none.
func Sweep(ctx context.Context, workspace string) (int, error) {
	root, err := openWorkspace(workspace)
	if err != nil {
		return 0, nil // every call of a tool says so
	}
	defer root.Close()
	var left []string
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && temporaryName(e.Name()) {
			left = append(left, name)
		}
		return ctx.Err() // a folder that cannot be read has nothing of ours
	})
	if err != nil || len(left) == 0 {
		return 0, err
	}
	unlock, err := lockRoot(ctx, root)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, name := range left {
		if err = remove(root, name); err != nil {
			err = fmt.Errorf("remove %s: %w", name, err)
			break
		}
		removed++
	}
	return removed, errors.Join(err, unlock())
}

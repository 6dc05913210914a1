package file

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The names of temporary files.
const (
	temporaryPrefix = ".klawbot-"
	temporarySuffix = ".tmp"
)

func newTemporaryName() string { return temporaryPrefix + rand.Text() + temporarySuffix }

// temporaryName reports whether a name is from newTemporaryName.
func temporaryName(name string) bool {
	middle, ok := strings.CutPrefix(name, temporaryPrefix)
	middle, end := strings.CutSuffix(middle, temporarySuffix)
	return ok && end && len(middle) == len(rand.Text()) && strings.Trim(middle, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Sweep removes the temporary files that a killed klawbot left in a workspace and returns
// how many. It visits every directory, so it runs in the background.
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
		return ctx.Err() // an unreadable directory has none
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

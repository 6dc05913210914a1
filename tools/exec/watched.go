package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// maxWatched is how many files and folders of a workspace are watched for changes
// between a question and the start of what was asked about.
const maxWatched = 10_000

// noCode are the endings of files that hold notes, data or pictures: they change
// often, and programs do not load them as code.
var noCode = strings.Fields(`.md .txt .log .csv .tsv .pdf .jpg .jpeg .png .gif .webp .heic .mp3 .ogg .oga .wav .mp4 .mov .webm .doc .docx .xls .xlsx
	.ppt .pptx .odt .ods .db .db-wal .db-shm .db-journal .sqlite .sqlite3 .jsonl .pid .tmp`)

// loaders are the beginnings of the names of text files that say which code is
// loaded, without being named in a command.
var loaders = strings.Fields("CMakeLists.txt requirements constraints")

// mayBeCode reports whether a program may load a file as code by its name.
func mayBeCode(name string) bool {
	name = path.Base(name)
	return !slices.Contains(noCode, strings.ToLower(path.Ext(name))) ||
		slices.ContainsFunc(loaders, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// watchedIn is watched for the workspace with a path.
func watchedIn(workspace string, all bool) (state string, tooMany bool) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return "", false
	}
	defer root.Close()
	return watched(root.FS(), all)
}

// watched identifies the files of a workspace that a program may run or import: by
// name, size and the time of the last change, which no tool can set. all takes
// those in that are not code. With too many files it is empty.
func watched(workspace fs.FS, all bool) (state string, tooMany bool) {
	sum, entries := sha256.New(), 0
	err := fs.WalkDir(workspace, ".", func(name string, d fs.DirEntry, err error) error {
		if entries++; entries > maxWatched {
			return fs.SkipAll
		}
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir // an unreadable file cannot be run
		case err != nil:
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir(), !all && !mayBeCode(name):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		fmt.Fprintf(sum, "%q %v %d %d", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if s, is := info.Sys().(*syscall.Stat_t); is {
			fmt.Fprintf(sum, " %d %v", s.Ino, ctime(s))
		}
		fmt.Fprintln(sum)
		return nil
	})
	if err != nil || entries > maxWatched {
		return "", true
	}
	return hex.EncodeToString(sum.Sum(nil)), false
}

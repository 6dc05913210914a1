package file

import (
	"io/fs"

	"klawbot/tools"
)

// Opener returns a function that opens files of the workspace for tools that
// pass them on, of any size. It goes through the same checks as file_read, and
// what it refuses is a Result in the same words.
func Opener(c Config) func(path string) (fs.File, *tools.Result) {
	f := &files{config: c}
	return func(path string) (fs.File, *tools.Result) {
		file, err := f.open(path)
		if err != nil {
			r := failed(err, "file", path)
			return nil, &r
		}
		return file, nil
	}
}

func (f *files) open(path string) (fs.File, error) {
	p, err := f.locate(path)
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	file, _, err := f.openFile(p)
	return file, err
}

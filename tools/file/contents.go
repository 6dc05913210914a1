package file

import (
	"io/fs"

	"klawbot/tools"
)

// Opener returns a function that opens files of the workspace, of any size, with the checks
// and errors of file_read.
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

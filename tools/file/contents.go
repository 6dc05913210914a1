package file

import "klawbot/tools"

// Contents returns a function that reads whole files of the workspace for tools
// that pass them on. It goes through the same checks as file_read, and what it
// refuses is a Result in the same words.
func Contents(c Config) func(path string) ([]byte, *tools.Result) {
	f := &files{config: c}
	return func(path string) ([]byte, *tools.Result) {
		content, err := f.contents(path)
		if err != nil {
			r := failed(err, "file", path)
			return nil, &r
		}
		return content, nil
	}
}

func (f *files) contents(path string) ([]byte, error) {
	p, err := f.locate(path)
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	return f.whole(p)
}

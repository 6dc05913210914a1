package file

import (
	"io/fs"
	"os"
	"syscall"

	"klawbot/tools"
)

// openFile opens a regular file for reading: a pipe would block, a device never end.
func (f *files) openFile(p place) (*os.File, fs.FileInfo, error) {
	file, err := p.root.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = f.check(p, file, info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func (f *files) check(p place, file *os.File, info fs.FileInfo) error {
	if err := regular(info, p.shown); err != nil {
		return err
	}
	// git clone --local shares its objects as hard links.
	if linked(info) && !f.hardlinks() && !protected(p.name) {
		return hardlink(p.shown)
	}
	if virtual(file) {
		return tools.Refuse(tools.Security, "Access denied: %s is a /proc or /sys file", quote(p.shown))
	}
	return nil
}

func hardlink(shown string) error {
	return tools.Refuse(tools.Security, "Access denied: %s has a second name (hard link) that may lie outside the workspace", quote(shown))
}

func regular(info fs.FileInfo, shown string) error {
	switch {
	case info.IsDir():
		return tools.Refuse(tools.Validation, "%s is a directory; file_list shows what is in it", quote(shown))
	case !info.Mode().IsRegular():
		return tools.Refuse(tools.Security, "Access denied: %s is not a regular file", quote(shown))
	}
	return nil
}

// linked reports whether the file has more than one name.
func linked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

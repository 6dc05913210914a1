package file

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"klawbot/internal/clip"
	"klawbot/tools"
)

// refusal is an error in the words of the model.
type refusal struct {
	kind tools.ErrorKind
	text string
}

func (r *refusal) Error() string { return r.text }

func refuse(kind tools.ErrorKind, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// The refusals that all tools with paths share.
var (
	errNoWorkspace = &refusal{tools.NotFound, "No workspace set"}
	errOutside     = &refusal{tools.Security, "Access denied: path outside workspace"}
)

// failed turns an error about a path into what the model reads. what is the
// kind of thing that was looked for.
func failed(err error, what, path string) tools.Result {
	var r *refusal
	path = quote(path)
	switch {
	case errors.As(err, &r):
		return tools.Fail(r.kind, r.text)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return tools.Fail(tools.NotFound, what+" not found: "+path)
	case errors.Is(err, fs.ErrPermission):
		return tools.Fail(tools.Execution, "permission denied: "+path)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return tools.Fail(tools.Validation, "path is too long: "+path)
	case strings.Contains(err.Error(), "escapes from parent"):
		// The links changed under our hands; os.Root has no error value for it.
		return tools.Fail(errOutside.kind, errOutside.text)
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return tools.Fail(tools.Execution, path+": "+err.Error())
}

// quote shortens a path for an error: it is foreign text.
func quote(path string) string { return clip.Runes(path, 200) }

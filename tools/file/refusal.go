package file

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"klawbot/internal/clip"
	"klawbot/tools"
)

// The errors of all tools with paths.
var (
	errNoWorkspace = &tools.Refusal{Kind: tools.NotFound, Text: "No workspace set"}
	errOutside     = &tools.Refusal{Kind: tools.Security, Text: "Access denied: path outside workspace"}
)

// failed is the result for an error about a path; what is "file" or "directory".
func failed(err error, what, path string) tools.Result {
	path = quote(path)
	_, refused := errors.AsType[*tools.Refusal](err)
	switch {
	case refused:
		return tools.Failed(err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return tools.Fail(tools.NotFound, what+" not found: "+path)
	case errors.Is(err, fs.ErrPermission):
		return tools.Fail(tools.Execution, "permission denied: "+path)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return tools.Fail(tools.Validation, "path is too long: "+path)
	case strings.Contains(err.Error(), "escapes from parent"):
		// A link changed during the call; os.Root has no error value for it.
		return tools.Failed(errOutside)
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return tools.Fail(tools.Execution, path+": "+err.Error())
}

// quote shortens a path for an error.
func quote(path string) string { return clip.Runes(path, 200) }

package file_test

import (
	"testing"

	"klawbot/tools"
	"klawbot/tools/file"
)

func TestSystemFilesAreRefused(t *testing.T) {
	b := newBench(t, func(c *file.Config) { c.Workspace = "/proc/self" })
	if r := b.call("file_read", "path", "environ"); r.Success || r.ErrorKind != tools.Security {
		t.Errorf("result is %+v", r)
	}
}

package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/tools"
	"klawbot/tools/file"
)

// scenario is something that one of the systems before klawbot promised, told
// with the calls that show it.
type scenario struct {
	name string
	run  func(b bench)
}

func tell(t *testing.T, all []scenario) {
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			b := newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 1000 } })
			b.put("notes/todo.md", "one\ntwo\nthree\n")
			put(t, filepath.Join(b.dir, "../secret.txt"), "SECRET")
			s.run(b)
		})
	}
}

const outside = "Error: Access denied: path outside workspace"

// denied checks that a path leads nowhere.
func (b bench) denied(r tools.Result) {
	b.t.Helper()
	b.says(r, outside)
	if r.ErrorKind != tools.Security || r.Success {
		b.t.Errorf("kind is %s", r.ErrorKind)
	}
}

func TestScenariosOfKlaw(t *testing.T) {
	tell(t, []scenario{
		{"file_read reads file from workspace", func(b bench) {
			b.says(b.call("file_read", "path", "notes/todo.md"), "one\ntwo\nthree\n")
		}},
		{"file_read with startLine and maxLines", func(b bench) {
			b.says(b.call("file_read", "path", "notes/todo.md", "startLine", 2, "maxLines", 1), "2|two")
		}},
		{"file_read REJECTS path outside workspace (path traversal)", func(b bench) {
			b.denied(b.call("file_read", "path", "../secret.txt"))
		}},
		{"file_read REJECTS absolute path outside workspace", func(b bench) {
			b.denied(b.call("file_read", "path", filepath.Join(b.dir, "../secret.txt")))
		}},
		{"file_read REJECTS ../.. traversal", func(b bench) {
			b.denied(b.call("file_read", "path", "notes/../../secret.txt"))
		}},
		{"file_write creates new file", func(b bench) {
			b.says(b.call("file_write", "path", "a/b/new.md", "content", "x"), "OK: file written to a/b/new.md (1 bytes)")
			b.holds("a/b/new.md", "x")
		}},
		{"file_write append mode", func(b bench) {
			b.call("file_write", "path", "notes/todo.md", "content", "four\n", "mode", "append")
			b.holds("notes/todo.md", "one\ntwo\nthree\nfour\n")
		}},
		{"file_write overwrite mode", func(b bench) {
			b.call("file_write", "path", "notes/todo.md", "content", "new", "mode", "overwrite")
			b.holds("notes/todo.md", "new")
		}},
		{"file_write REJECTS file larger than maxFileSizeBytes", func(b bench) {
			b.says(b.call("file_write", "path", "big.md", "content", strings.Repeat("x", 1001)), "Error: content exceeds maximum file size of 1000 bytes")
		}},
		{"file_write REJECTS path outside workspace", func(b bench) {
			b.denied(b.call("file_write", "path", "../secret.txt", "content", "x"))
		}},
		{"file_list directory listing", func(b bench) {
			b.says(b.call("file_list"), "notes/")
		}},
		{"file_list recursive listing", func(b bench) {
			b.says(b.call("file_list", "path", ".", "recursive", true), "notes/\nnotes/todo.md (14 bytes)")
		}},
		{"path_1 = workspace/../etc_passwd is rejected", func(b bench) {
			b.denied(b.call("file_read", "path", "workspace/../../etc_passwd"))
			b.denied(b.call("file_write", "path", "workspace/../../etc_passwd", "content", "x"))
		}},
		{"path_2 = absolute /etc/passwd is rejected", func(b bench) {
			b.denied(b.call("file_read", "path", "/etc/passwd"))
		}},
		{"path_3 = symlink pointing outside workspace is rejected", func(b bench) {
			b.link("../secret.txt", "link")
			for _, r := range []tools.Result{
				b.call("file_read", "path", "link"),
				b.call("file_write", "path", "link", "content", "x"),
				b.call("file_write", "path", "link", "content", "x", "mode", "append"),
				b.call("file_edit", "path", "link", "old_str", "SECRET", "new_str", "x"),
			} {
				b.denied(r)
			}
			b.holds("../secret.txt", "SECRET")
		}},
	})
}

func TestScenariosOfLoom(t *testing.T) {
	tell(t, []scenario{
		{"read_file with line_range", func(b bench) {
			b.says(b.call("read_file", "path", "notes/todo.md", "line_range", []int{2, 3}), "2|two\n3|three")
		}},
		{"read_file of a missing file", func(b bench) {
			b.says(b.call("read_file", "path", "none.md"), "Error: file not found: none.md")
		}},
		{"write_file overwrites and makes folders", func(b bench) {
			b.call("write_file", "path", "x/y/z.md", "content", "1")
			b.call("write_file", "path", "x/y/z.md", "content", "2")
			b.holds("x/y/z.md", "2")
		}},
		{"edit_file replaces a unique string and shows context", func(b bench) {
			b.says(b.call("edit_file", "path", "notes/todo.md", "old_str", "two", "new_str", "2"),
				"OK: notes/todo.md edited. It reads there now:\n1|one\n2|2\n3|three")
			b.holds("notes/todo.md", "one\n2\nthree\n")
		}},
		{"edit_file of a string that is not there", func(b bench) {
			b.says(b.call("edit_file", "path", "notes/todo.md", "old_str", "four", "new_str", "4"),
				"Error: old_str not found in notes/todo.md; read the file and copy the text exactly, blanks included")
		}},
		{"edit_file of a string that is not unique", func(b bench) {
			b.says(b.call("edit_file", "path", "notes/todo.md", "old_str", "e\n", "new_str", "E\n"),
				"Error: old_str found 2 times in notes/todo.md (lines 1, 3); include more of the surrounding text")
			b.holds("notes/todo.md", "one\ntwo\nthree\n")
		}},
		{"edit_file of a missing file", func(b bench) {
			b.says(b.call("edit_file", "path", "none.md", "old_str", "a", "new_str", "b"), "Error: file not found: none.md")
		}},
		{"search_files finds lines", func(b bench) {
			b.says(b.call("search_files", "pattern", "t.*o"), "notes/todo.md:2: two")
		}},
		{"search_files finds nothing", func(b bench) {
			b.says(b.call("search_files", "pattern", "nine"), "No matches found for pattern: nine")
		}},
		{"search_files with file_pattern", func(b bench) {
			b.put("code/two.py", "two")
			b.says(b.call("search_files", "pattern", "two", "file_pattern", "*.py"), "code/two.py:1: two")
		}},
		{"search_files with an invalid regex", func(b bench) {
			b.says(b.call("search_files", "pattern", "t[wo"), "Error: Invalid regex: missing closing ]: `[wo`")
		}},
		{"search_files in a subdirectory", func(b bench) {
			b.put("code/two.py", "two")
			b.says(b.call("search_files", "pattern", "two", "path", "code"), "code/two.py:1: two")
		}},
		{"list_directory two levels deep without what is excluded", func(b bench) {
			b.put("a/b/c/d.md", "")
			b.put(".git/config", "")
			b.put("node_modules/x.js", "")
			b.put("__pycache__/x.pyc", "")
			b.says(b.call("list_directory"), "a/\na/b/\nnotes/\nnotes/todo.md (14 bytes)")
		}},
		{"list_directory of a missing folder", func(b bench) {
			b.says(b.call("list_directory", "path", "none"), "Error: directory not found: none")
		}},
		{"the changelog is recorded before the edit", func(b bench) {
			recorded := false
			b.log.recorded = func(c tools.Change) error {
				recorded = true
				b.holds("notes/todo.md", "one\ntwo\nthree\n")
				return nil
			}
			b.call("edit_file", "path", "notes/todo.md", "old_str", "two", "new_str", "2")
			b.holds("notes/todo.md", "one\n2\nthree\n")
			if !recorded {
				b.t.Error("nothing was recorded")
			}
		}},
		{"undo restores an edit", func(b bench) {
			b.call("edit_file", "path", "notes/todo.md", "old_str", "two", "new_str", "2")
			b.says(b.call("file_undo", "action", "revert"), "OK: notes/todo.md is as it was before change 1")
			b.holds("notes/todo.md", "one\ntwo\nthree\n")
		}},
		{"undo of a creation deletes", func(b bench) {
			b.call("write_file", "path", "new.md", "content", "x")
			b.says(b.call("file_undo", "action", "revert"), "OK: new.md is removed, as before change 1")
			b.missing("new.md")
		}},
	})
}

func TestScenariosOfWyrmspire(t *testing.T) {
	tell(t, []scenario{
		{"list_files tells name, type and size", func(b bench) {
			b.says(b.call("list_files", "path", "notes"), "notes/todo.md (14 bytes)")
		}},
		{"list_files outside", func(b bench) { b.denied(b.call("list_files", "path", "..")) }},
		{"list_files of a file", func(b bench) {
			b.says(b.call("list_files", "path", "notes/todo.md"), "Error: directory not found: notes/todo.md (it is a file)")
		}},
		{"a nested workspace prefix is forgiven", func(b bench) {
			b.says(b.call("read_file", "path", "workspace/notes/todo.md"), "one\ntwo\nthree\n")
		}},
		{"Windows slashes are understood", func(b bench) {
			b.says(b.call("read_file", "path", `notes\todo.md`), "one\ntwo\nthree\n")
			b.says(b.call("write_file", "path", `notes\deep\a.md`, "content", "a"), "OK: file written to notes/deep/a.md (1 bytes)")
			b.denied(b.call("read_file", "path", `..\secret.txt`))
			b.put(`odd\name`, "odd")
			b.says(b.call("read_file", "path", `odd\name`), "odd")
		}},
	})
}

func TestScenariosOfOpenClawClone(t *testing.T) {
	tell(t, []scenario{
		{"file_read numbers lines when a range is given", func(b bench) {
			b.says(b.call("file_read", "path", "notes/todo.md", "startLine", 1, "endLine", 2), "1|one\n2|two")
		}},
		{"file_read of a missing file", func(b bench) {
			b.says(b.call("file_read", "path", "none.md"), "Error: file not found: none.md")
		}},
		{"startsWith does not open the neighbour", func(b bench) {
			put(b.t, b.dir+"-evil/s.txt", "EVIL")
			b.denied(b.call("file_read", "path", b.dir+"-evil/s.txt"))
			b.denied(b.call("file_search", "pattern", "EVIL", "type", "grep", "path", b.dir+"-evil"))
		}},
		{"file_search by glob", func(b bench) {
			b.says(b.call("file_search", "pattern", "**/*.md"), "notes/todo.md")
		}},
		{"file_search by grep", func(b bench) {
			b.says(b.call("file_search", "pattern", "^three$", "type", "grep"), "notes/todo.md:3: three")
		}},
		{"file_write makes folders", func(b bench) {
			b.call("file_write", "path", "p/q/r.md", "content", "é")
			b.says(b.call("file_write", "path", "p/q/r.md", "content", "é"), "OK: file written to p/q/r.md (2 bytes)")
		}},
	})
}

// link makes a link in the workspace.
func (b bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

// missing checks that the workspace has no such name.
func (b bench) missing(name string) {
	b.t.Helper()
	if _, err := os.Lstat(filepath.Join(b.dir, name)); !os.IsNotExist(err) {
		b.t.Errorf("%s is there: %v", name, err)
	}
}

package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzPath checks that no path and no link leads out of the root.
func FuzzPath(f *testing.F) {
	for _, seed := range [][2]string{
		{"a.txt", "b"}, {"../x", "../out"}, {"/ws/../out", "/"}, {"/ws", "."}, {"link/../../x", "a/../../out"},
		{"link/link/x", "link"}, {"a//b/./c", ""}, {"\x00", "\x00"}, {"/ws-evil/x", "/ws"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, written, target string) {
		name, err := clean([]string{"/ws"}, written)
		if err != nil {
			return
		}
		if !filepath.IsLocal(name) {
			t.Fatalf("clean(%q) is %q", written, name)
		}
		base := t.TempDir()
		dir := filepath.Join(base, "ws")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(target, 0) || target == "" || len(target) > 1000 {
			target = "../ws"
		}
		if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		real, err := resolve(root, name)
		if err != nil {
			return
		}
		if !filepath.IsLocal(real) || strings.HasPrefix(real+"/", "link/") {
			t.Fatalf("resolve(%q) with a link to %q is %q", name, target, real)
		}
	})
}

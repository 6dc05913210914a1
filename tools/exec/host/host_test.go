package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/tools/exec/host"
)

// TestFolders: programs are looked for where no command can put one.
func TestFolders(t *testing.T) {
	workspace, outside := t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{workspace + "/bin": 0o755, outside + "/bin": 0o755, outside + "/open": 0o777} {
		if err := os.Mkdir(name, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(workspace+"/bin", outside+"/link"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(outside)
	t.Setenv("PATH", workspace+"/bin:"+workspace+":"+outside+"/link:"+outside+"/open:/no/such:bin:.::"+outside+"/bin")
	if diff := cmp.Diff([]string{outside + "/bin"}, host.Folders(workspace)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(outside+"/bin/tool", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := host.Find("tool", workspace, host.Folders(workspace)); got != filepath.Join(outside, "bin/tool") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"no-such-tool", "./tool", workspace, outside + "/bin/../open"} {
		if got, err := host.Find(name, workspace, host.Folders(workspace)); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

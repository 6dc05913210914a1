package bot

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/cmd/klawbot/internal/config"
)

// TestPortFindings: an address that another program has is told by its key.
func TestPortFindings(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c := config.Defaults()
	c.Health.Listen, c.Metrics.Listen = "127.0.0.1:0", taken.Addr().String()
	all := PortFindings(&c)
	if len(all) != 1 || all[0].OK || !strings.Contains(all[0].Fix, "metrics.listen") || !strings.Contains(all[0].Text, "in use") {
		t.Errorf("%+v", all)
	}
	if c.Metrics.Listen = ""; len(PortFindings(&c)) != 0 {
		t.Error("a free port is taken")
	}
}

// TestFolderThatCannotBeWritten is told by doctor.
func TestFolderThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if f := workspaceFinding(dir); !f.OK {
		t.Errorf("%+v", f)
	}
	if f := workspaceFinding(filepath.Join(dir, "new")); !f.OK {
		t.Errorf("a workspace that is not there yet: %+v", f)
	}
	if os.Geteuid() == 0 {
		dir = "/proc" // not writable
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f := workspaceFinding(dir); f.OK || f.Fix == "" {
		t.Errorf("%+v", f)
	}
}

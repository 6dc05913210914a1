package health

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/sqlite"
)

// Disk is what the data directory takes, in bytes.
type Disk struct {
	// Free is what is left on its disk; 0 if that is unknown.
	Free  uint64     `json:"free"`
	Parts []DiskPart `json:"parts,omitempty"`
}

// DiskPart is a part of the data directory.
type DiskPart struct {
	Part  string `json:"part"`
	Bytes int64  `json:"bytes"`
}

// diskParts are the directories that have a part of their own, in the order in which
// people read them. The workspace may be elsewhere.
var diskParts = []string{"database", "backups", "conversations", "media", "workspace", "assets", "other"}

// DiskUse measures a data directory, at most once a minute: a workspace can be large.
type DiskUse struct {
	dir, workspace string
	mu             sync.Mutex
	last           Disk      // guarded by mu
	at             time.Time // guarded by mu
}

// diskFresh is how long a measurement is shown.
const diskFresh = time.Minute

// NewDiskUse measures these directories.
func NewDiskUse(dir, workspace string) *DiskUse { return &DiskUse{dir: dir, workspace: workspace} }

// Now is what they take now, or took a moment ago.
func (d *DiskUse) Now() Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() || time.Since(d.at) > diskFresh {
		d.last, d.at = d.measure(), time.Now()
	}
	return d.last
}

func (d *DiskUse) measure() (now Disk) {
	sums := map[string]int64{}
	add := func(root string, part func(rel string) string) {
		// What can't be read, or is deleted during the walk, doesn't count.
		_ = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil
			}
			if root == d.dir && d.workspace != "" && strings.HasPrefix(name, d.workspace+string(filepath.Separator)) {
				return nil
			}
			if info, err := e.Info(); err == nil {
				rel, _ := filepath.Rel(root, name)
				sums[part(filepath.ToSlash(rel))] += info.Size()
			}
			return nil
		})
	}
	add(d.dir, partOf)
	if _, err := os.Stat(d.workspace); err == nil && d.workspace != "" {
		add(d.workspace, func(string) string { return "workspace" })
	}
	for _, part := range diskParts {
		now.Parts = append(now.Parts, DiskPart{part, sums[part]})
	}
	now.Free, _ = sqlite.FreeSpace(d.dir)
	return now
}

// partOf is the part that a file of the data directory belongs to.
func partOf(rel string) string {
	top, _, below := strings.Cut(rel, "/")
	switch {
	case !below && strings.HasPrefix(top, "klawbot.db"):
		return "database"
	case below:
		for _, part := range diskParts {
			if part == top {
				return part
			}
		}
	}
	return "other"
}

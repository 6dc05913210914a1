package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"klawbot/internal/atomicfile"
)

const (
	// slow is how long a plugin without a usable specification may take to show
	// it. One that takes longer is not asked again by every command.
	slow = time.Second
	// slowFor is how long that is remembered: the machine may have been busy.
	slowFor = 24 * time.Hour
	// maxSlowFile bounds the file of the slow ones, in bytes.
	maxSlowFile = 1 << 20
)

// slowPlugin is a plugin that took long and had no usable specification, as its
// file was then and in the sandbox of then.
type slowPlugin struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Changed  time.Time `json:"changed"`
	Sandbox  string    `json:"sandbox"`
	Asked    time.Time `json:"asked"`
	Fault    string    `json:"fault"`
}

// slowPlugins are the slow ones by the name of their file. Specifications that
// can be used are not kept: they come from the file that is run.
type slowPlugins map[string]slowPlugin

// readSlow reads the file of the slow ones. If it cannot be read, all are asked.
func readSlow(name string) slowPlugins {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxSlowFile {
		return slowPlugins{}
	}
	var all slowPlugins
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &all) != nil || all == nil {
		return slowPlugins{}
	}
	return all
}

// write replaces the file, and takes it away when there is nothing to say.
func (s slowPlugins) write(name string) error {
	if len(s) == 0 {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(name, append(text, '\n'), 0o600)
}

// fault is what is remembered of a file, "" for nothing.
func (s slowPlugins) fault(f file, sandbox string, now time.Time) string {
	m, ok := s[f.name]
	age := now.Sub(m.Asked)
	if !ok || m.Size != f.size || !m.Modified.Equal(f.modified) || !m.Changed.Equal(f.ctime()) || m.Sandbox != sandbox || age < 0 || age > slowFor {
		return ""
	}
	return fmt.Sprintf("%s; it is asked again when the file changes (touch it)", m.Fault)
}

// ctime is when the file or what is known of it was changed last.
func (f file) ctime() time.Time { return time.Unix(f.changed.Unix()).UTC() }

// recall is what is remembered now.
func (h *Host) recall() slowPlugins {
	if h.config.Slow == "" {
		return nil
	}
	return readSlow(h.config.Slow)
}

// remember stores which plugins were slow and unusable, and drops those that are gone.
func (h *Host) remember(before slowPlugins, box string, asked []*plugin, took []time.Duration) {
	if h.config.Slow == "" {
		return
	}
	after := maps.Clone(before)
	maps.DeleteFunc(after, func(name string, _ slowPlugin) bool {
		_, err := os.Lstat(filepath.Join(h.config.Dir, name))
		return errors.Is(err, fs.ErrNotExist)
	})
	for i, p := range asked {
		switch {
		case took[i] == 0: // it was not asked
		case p.fault == "" || took[i] < slow:
			delete(after, p.file.name)
		default:
			after[p.file.name] = slowPlugin{
				Size: p.file.size, Modified: p.file.modified, Changed: p.file.ctime(),
				Sandbox: box, Asked: time.Now().UTC(), Fault: p.fault,
			}
		}
	}
	if maps.Equal(before, after) {
		return
	}
	if err := after.write(h.config.Slow); err != nil {
		h.config.Log.Warn("slow plugins not remembered", "file", h.config.Slow, "err", err)
	}
}

package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"klawbot/tools"
	"klawbot/tools/exec/command"
)

// maxScript is how much of the scripts of a line is looked at, in bytes. Of what
// is longer the size and the time of its last change count, too.
const maxScript = 16 << 20

// binds identifies what an approval of a line is about besides its text: the
// folder, and what the files hold that the line may run. once says why the
// approval must not be remembered, "" when it may be.
func (w where) binds(line command.Line) (binds, once string) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", w.dir)
	left := int64(maxScript)
	for _, name := range line.Scripts {
		if text := w.fingerprint(name, &left); text != "" {
			fmt.Fprintf(sum, "%q %s\n", name, text)
		}
	}
	binds = hex.EncodeToString(sum.Sum(nil))
	if line.RunsOthers {
		var files string
		files, once = watched(w.root.FS(), line.Vague)
		binds += ":" + files
	}
	return binds, once
}

// bound reports whether what the call depends on is as it was when it was decided
// about. Where nobody was asked, that is what the line names.
func (v view) bound(d tools.Decision) bool {
	before, now := d.Binds, v.binds
	if d.Verdict != tools.Ask {
		before, _, _ = strings.Cut(before, ":")
		now, _, _ = strings.Cut(now, ":")
	}
	return before == now
}

// fingerprint identifies the content of a file as the command would find it, or
// is "" when there is none to read. It reads as much as is left, and takes that off.
func (w where) fingerprint(name string, left *int64) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.dir, name)
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, *left))
	if err != nil {
		return "unreadable"
	}
	*left -= n
	text := hex.EncodeToString(sum.Sum(nil))
	if info.Size() > n {
		text += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
	}
	return text
}

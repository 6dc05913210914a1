package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"klawbot/tools"
	"klawbot/tools/exec/command"
)

// maxScript is how much of the scripts of a line is checked, in bytes. Of what
// is longer the size and the time of its last change count, too.
const maxScript = 16 << 20

// binds identifies what an approval of a line is about besides its text: the sandbox,
// the folder, and what the files hold that the line names and may run.
func (w where) binds(line command.Line, sandboxed string) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %q\n", sandboxed, w.dir)
	left := int64(maxScript)
	for _, name := range line.Scripts {
		if text := w.fingerprint(name, &left); text != "" {
			fmt.Fprintf(sum, "%q %s\n", name, text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// watch identifies the files that a call may run without naming them.
func (s *Shell) watch(c tools.Call) (state string, tooMany bool) {
	v, refusal := s.look(c.Arguments)
	if refusal != nil || v.listed || !v.line.RunsOthers {
		return "", false
	}
	return watchedIn(s.config.Workspace, v.line.Vague)
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

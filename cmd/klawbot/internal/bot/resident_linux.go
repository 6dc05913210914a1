package bot

import (
	"bufio"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// letGo gives back what only the start needed: the free memory of the heap, and
// the pages of the program's own file, of which the kernel maps many around each
// one that is used. What is needed again comes back from the page cache.
func letGo() {
	debug.FreeOSMemory()
	program, err := os.Executable()
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range codeOf(program, f) {
		// Where the kernel refuses, the pages stay, and nothing is lost.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_NOHUGEPAGE)
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// codeOf finds the mappings of a program's file that cannot be written to and
// that hold nothing but the file: all can be read from it again.
func codeOf(program string, smaps io.Reader) []mapping {
	var all []mapping
	var now mapping
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		if m, ok := parseMapping(lines.Text(), program); ok {
			now = m
		} else if private, ok := strings.CutPrefix(lines.Text(), "Anonymous:"); ok {
			if now.from != 0 && strings.TrimSpace(private) == "0 kB" {
				all = append(all, now)
			}
			now = mapping{}
		}
	}
	return all
}

// parseMapping reads the first line of a mapping of the program.
func parseMapping(line, program string) (m mapping, ok bool) {
	f := strings.Fields(line)
	if len(f) != 6 || f[5] != program || f[1] != "r-xp" && f[1] != "r--p" {
		return m, false
	}
	from, to, _ := strings.Cut(f[0], "-")
	a, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return m, false
	}
	b, err := strconv.ParseUint(to, 16, 64)
	return mapping{uintptr(a), uintptr(b)}, err == nil && b > a
}

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// proc is a process as /proc shows it.
type proc struct {
	pid, parent, threads int
	exited               bool
}

// processes are all processes that can be seen.
func processes() (all []proc) {
	names, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, name := range names {
		if p, ok := readProc(name); ok {
			all = append(all, p)
		}
	}
	return all
}

func readProc(dir string) (p proc, ok bool) {
	text, err := os.ReadFile(dir + "/stat")
	end := bytes.LastIndexByte(text, ')') // the name may hold anything
	if err != nil || end < 0 {
		return p, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 18 {
		return p, false
	}
	p.pid, _ = strconv.Atoi(filepath.Base(dir))
	p.parent, _ = strconv.Atoi(fields[1])
	p.threads, _ = strconv.Atoi(fields[17])
	p.exited = fields[0] == "Z" || fields[0] == "X"
	return p, true
}

// below are the living processes under a process, without itself.
func below(pid int) (all []proc) {
	children := map[int][]proc{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	var add func(int)
	add = func(parent int) {
		for _, p := range children[parent] {
			if !p.exited {
				all = append(all, p)
			}
			add(p.pid)
		}
	}
	add(pid)
	return all
}

// processesOfUser is how many processes and threads the bot's user has.
func processesOfUser() (n uint64) {
	for _, p := range processes() {
		if p.status("Uid") == int64(os.Getuid()) {
			n += uint64(p.threads)
		}
	}
	return n
}

// status is the first number of a line of the process's status, 0 without one.
// The owner of its folder in /proc may be root instead: that of a process that is not
// dumpable.
func (p proc) status(line string) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+line+":")
	rest, _, _ = strings.Cut(rest, "\n")
	n, _ := strconv.ParseInt(append(strings.Fields(rest), "")[0], 10, 64) // there may be no such line
	return n
}

// memory is what a process has of its own, and what it shares, in bytes.
func (p proc) memory() (own, shared int64) {
	return p.status("RssAnon") << 10, p.status("RssShmem") << 10
}

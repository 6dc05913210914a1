package sandbox

import (
	"errors"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// mark is what every process of a run inherits, beside the name in its
// environment, which `env -i` takes away: its soft limit on the time of real-time
// work is a number of its own. The number is so large that it limits nobody. It
// holds the process id of the bot, so that the next bot knows what is left of one
// that was killed.
type mark uint64

// A mark is a bit that no limit in use has, the bot's process id, and bits of the
// run.
const (
	markBit = 1 << 62
	runBits = 40
)

func newMark(run string) mark {
	h := fnv.New64a()
	_, _ = h.Write([]byte(run)) // it never fails
	return markBit | mark(os.Getpid())<<runBits | mark(h.Sum64()&(1<<runBits-1))
}

// bot is the process id of the bot, 0 when m is no mark.
func (m mark) bot() int {
	if m>>62 != 1 {
		return 0
	}
	return int(m &^ markBit >> runBits)
}

// markOf is the mark of a process, and no mark when it may not be looked at.
func markOf(pid int) mark {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) != nil {
		return 0
	}
	return mark(limit.Cur)
}

// marking is held while the bot itself bears a mark, which is the only way to give
// a program one before it runs. Programs that are started otherwise meanwhile get it,
// too; see Apart.
var marking sync.Mutex

// startMarked starts a program of a run. Where the limit cannot be set, the name in
// the environment is its only mark.
func startMarked(c *exec.Cmd, run string) error {
	marking.Lock()
	defer marking.Unlock()
	var before unix.Rlimit
	if unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &before) == nil {
		during := unix.Rlimit{Cur: uint64(newMark(run)), Max: before.Max}
		if unix.Prlimit(0, unix.RLIMIT_RTTIME, &during, nil) == nil {
			defer func() { _ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &before, nil) }() // what could be set can be put back
		}
	}
	return c.Start()
}

// EndOrphans kills what the commands of bots have left that were killed, and
// returns how many processes were found at once.
func EndOrphans() (n int) {
	for range maxRounds {
		found := 0
		for _, folder := range procFolders() {
			pid, err := strconv.Atoi(filepath.Base(folder))
			if err == nil && orphaned(pid) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				found++
			}
		}
		if found == 0 {
			break
		}
		n = max(n, found)
	}
	return n
}

// orphaned reports whether a process lives and belongs to a bot that does not. In
// another space of process ids nobody can tell.
func orphaned(pid int) bool {
	bot := markOf(pid).bot()
	return bot != 0 && gone(bot) && lives(pid) && space(pid) != "" && space(pid) == space(os.Getpid())
}

// gone reports whether there is no such process, or only its exit code. One that /proc
// hides is there: another bot of the same user may be.
func gone(pid int) bool {
	p, ok := readProc("/proc/" + strconv.Itoa(pid))
	return ok && p.exited || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// space is the name of a process's space of process ids, empty when it is not shown.
func space(pid int) string {
	name, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	return name
}

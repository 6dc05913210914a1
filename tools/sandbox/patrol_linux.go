package sandbox

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// patrolEvery is the time between two checks of a command.
const patrolEvery = 100 * time.Millisecond

// patrol watches a running command and says which limit it broke, where the kernel does
// not enforce it. A limit of 0 is not watched.
type patrol struct {
	memory  int64 // bytes, of all processes
	pids    int
	disk    int64 // bytes, in all folders
	folders []string
	cgroup  *group // nil without
}

// walk looks until the command has ended or broken a limit.
func (w *patrol) walk(pids []int, ended <-chan struct{}) (broken string) {
	begun, free := time.Now(), w.free()
	t := time.NewTicker(patrolEvery)
	defer t.Stop()
	for {
		select {
		case <-ended:
			return ""
		case <-t.C:
		}
		if w.memory > 0 {
			if broken := w.look(pids); broken != "" {
				return broken
			}
		}
		if w.filled(free) && w.written(begun) > w.disk {
			return "disk"
		}
	}
}

// look sums up the processes of the command.
func (w *patrol) look(pids []int) (broken string) {
	var count int
	var own, shared int64
	for _, pid := range pids {
		for _, p := range below(pid) {
			count++
			a, b := p.memory()
			own, shared = own+a, max(shared, b)
		}
	}
	switch {
	case count > w.pids:
		return "processes"
	case own+shared > w.memory:
		return "memory"
	}
	return ""
}

// free is how much room each folder's file system has.
func (w *patrol) free() []int64 {
	all := make([]int64, len(w.folders))
	for i, dir := range w.folders {
		var s syscall.Statfs_t
		if syscall.Statfs(dir, &s) == nil {
			all[i] = int64(s.Bfree) * s.Bsize
		}
	}
	return all
}

// filled reports whether a file system has lost so much room that it is worth
// looking who took it.
func (w *patrol) filled(before []int64) bool {
	for i, now := range w.free() {
		if before[i]-now > w.disk {
			return true
		}
	}
	return false
}

// written sums up the files that were written since.
func (w *patrol) written(since time.Time) (total int64) {
	for _, dir := range w.folders {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // a removed file takes no space
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			if s, ok := info.Sys().(*syscall.Stat_t); ok && !time.Unix(s.Ctim.Unix()).Before(since.Truncate(time.Second)) {
				total += s.Blocks * 512
			}
			return nil
		})
	}
	return total
}

// broken says which limit ended a command that has exited.
func (w *patrol) broken(code int) string {
	switch {
	case w.cgroup != nil && w.cgroup.killed():
		return "memory"
	case code == 128+int(syscall.SIGXFSZ):
		return "disk"
	case code == 128+int(syscall.SIGXCPU):
		return "processor time"
	}
	return ""
}

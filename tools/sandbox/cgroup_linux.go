package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroups is where groups for commands can be made.
type cgroups struct {
	// unified is the parent folder in cgroup v2; empty: v1.
	unified string
	// v1 are the parent folders by controller.
	v1 map[string]string
}

// group is the cgroup of one command.
type group struct {
	dirs []string
	join []string // files that a process enters it by
}

const cgroupMount = "/sys/fs/cgroup"

// findCgroups looks for a place where the bot may make groups, and returns nil
// when there is none.
func findCgroups() *cgroups {
	if _, err := os.Stat(cgroupMount + "/cgroup.controllers"); err == nil {
		for _, parent := range []string{cgroupMount, filepath.Dir(filepath.Join(cgroupMount, ownCgroup()))} {
			if c := (&cgroups{unified: parent}); c.works() {
				return c
			}
		}
		return nil
	}
	c := &cgroups{v1: map[string]string{}}
	for _, controller := range []string{"memory", "pids", "cpu"} {
		c.v1[controller] = filepath.Join(cgroupMount, controller)
	}
	if c.works() {
		return c
	}
	return nil
}

// ownCgroup is the bot's own group in cgroup v2.
func ownCgroup() string {
	text, _ := os.ReadFile("/proc/self/cgroup")
	_, path, _ := strings.Cut(strings.TrimSpace(string(text)), "::")
	return path
}

// works tries it out with a process.
func (c *cgroups) works() bool {
	g, err := c.make(newRun(), Limits{}.withDefaults())
	if err != nil {
		return false
	}
	defer g.remove()
	enter := exec.Command("sh", append([]string{"-c", `for f; do echo 0 >"$f" || exit 1; done`, "sh"}, g.join...)...)
	return enter.Run() == nil
}

func (c *cgroups) version() string {
	if c.unified != "" {
		return "v2"
	}
	return "v1"
}

// make makes the group of a run with its limits.
func (c *cgroups) make(run string, l Limits) (*group, error) {
	g := &group{}
	memory, pids := strconv.Itoa(l.MemoryMB<<20), strconv.Itoa(l.Pids+ownProcesses)
	const period = 100_000
	quota := strconv.Itoa(max(int(l.CPUs*period), 1000))
	var err error
	if c.unified != "" {
		err = g.add(filepath.Join(c.unified, run), "cgroup.procs", map[string]string{
			"memory.max": memory, "memory.swap.max?": "0", "memory.oom.group?": "1", "pids.max": pids, "cpu.max": quota + " " + strconv.Itoa(period),
		})
	} else {
		err = errors.Join(
			g.add(filepath.Join(c.v1["memory"], run), "tasks", map[string]string{"memory.limit_in_bytes": memory, "memory.swappiness?": "0"}),
			g.add(filepath.Join(c.v1["pids"], run), "tasks", map[string]string{"pids.max": pids}),
			g.add(filepath.Join(c.v1["cpu"], run), "tasks", map[string]string{"cpu.cfs_period_us": strconv.Itoa(period), "cpu.cfs_quota_us": quota}))
	}
	if err != nil {
		g.remove()
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return g, nil
}

// patience bounds how long the kernel may take to empty a group.
const patience = 5 * time.Second

// entered is how long a command may need to enter its group, by far.
const entered = time.Minute

// sweep removes the groups that are empty. One that was just made may be another
// bot's, whose command is about to enter it.
func (c *cgroups) sweep() {
	for _, parent := range append(slices.Collect(maps.Values(c.v1)), c.unified) {
		left, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*")) // the pattern is well-formed
		for _, dir := range left {
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > entered {
				_ = os.Remove(dir) // one in use stays
			}
		}
	}
}

// add makes one folder of the group. A file whose name ends in a question mark
// need not be there. In v1 the one thread that is about to become the command
// enters by itself: the kernel makes a whole process wait for tens of
// milliseconds.
func (g *group) add(dir, join string, values map[string]string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	g.dirs = append(g.dirs, dir)
	g.join = append(g.join, filepath.Join(dir, join))
	for name, value := range values {
		name, optional := strings.CutSuffix(name, "?")
		err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0)
		if err != nil && !(optional && errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// remove removes the group. The guard has ended what was in it, but the kernel may
// need a moment more; a group that stays is swept by the next bot.
func (g *group) remove() {
	for _, dir := range g.dirs {
		for begun := time.Now(); errors.Is(os.Remove(dir), syscall.EBUSY) && time.Since(begun) < patience; {
			time.Sleep(time.Millisecond)
		}
	}
}

// killed reports whether the kernel killed a process for its memory.
func (g *group) killed() bool {
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		text, err := os.ReadFile(filepath.Join(g.dirs[0], name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if n, ok := strings.CutPrefix(line, "oom_kill "); ok && strings.TrimSpace(n) != "0" {
				return true
			}
		}
	}
	return false
}

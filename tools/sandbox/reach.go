package sandbox

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Reach is what the programs of a command reach that run outside any sandbox but
// that no person was asked about. Beside what is listed here they read the programs and
// libraries of the system and write into a folder of their own, which is HOME and
// TMPDIR and is gone afterwards.
type Reach struct {
	// Workspace is a folder that all of them read. Empty: none.
	Workspace string
	// Scratch is the folder of their own, which the caller makes and removes. Empty:
	// one is made, and removed afterwards.
	Scratch string
	// Programs are what each program of the pipeline reaches beside that.
	Programs []Grant
	// MaxDisk bounds the folder of their own, in bytes; 0: no bound. Linux only.
	MaxDisk int64
	// MaxMemory bounds what all of them together hold in memory, in bytes; 0: no bound.
	// Linux only.
	MaxMemory int64
}

// Grant is what one program reaches: absolute paths of files and of folders with all
// that is in them. What does not exist is left out.
type Grant struct {
	Read, Write []string
	// Network lets it use the network.
	Network bool
}

// Confines reports whether this system can confine programs with Off. Where it
// cannot, a command with a Reach does not start.
func Confines() bool { return readingSupport() == nil }

// startWithin starts a command that Off confines, by the means of landlock.
func startWithin(ctx context.Context, c Command) (*Process, error) {
	tmp, j := c.Reach.Scratch, job{}
	if tmp == "" {
		var err error
		if tmp, err = os.MkdirTemp("", tempPrefix(c.Reach.Workspace)); err != nil {
			return nil, err
		}
		j.cleanup = func() { removeAll(tmp) }
	}
	if c.Reach.MaxDisk > 0 || c.Reach.MaxMemory > 0 {
		j.watch = &patrol{memory: c.Reach.MaxMemory, pids: math.MaxInt}
		if c.Reach.MaxDisk > 0 {
			j.watch.disk, j.watch.folders = c.Reach.MaxDisk, []string{tmp}
		}
	}
	env := append(environ(c.Env), "HOME="+tmp, "TMPDIR="+tmp)
	for i, argv := range c.argvs() {
		var g Grant
		if i < len(c.Reach.Programs) {
			g = c.Reach.Programs[i]
		}
		s := &stage{exec.Command(argv[0], argv[1:]...), bounds{DataBytes: c.maxMemory(i), Confine: g.confinement(c.Reach.Workspace, tmp)}}
		s.Dir, s.Env = c.Dir, env
		j.stages = append(j.stages, s)
	}
	return start(ctx, c, j)
}

// confinement says what bounds a program of a command.
func (g Grant) confinement(workspace, tmp string) *confinement {
	within := systemConfinement(g.Network)
	within.BestEffort = true
	within.Read = append(within.Read, existing(overviews)...)
	within.Read = append(within.Read, existing(g.Read)...)
	if workspace != "" {
		within.Read = append(within.Read, workspace)
	}
	within.Write = append(append(within.Write, tmp), existing(g.Write)...)
	return &within
}

// overviews are files about the machine as a whole, which programs read to say how
// it fares or how many processors it has, and the folder of Nix's programs.
var overviews = []string{
	"/proc/meminfo", "/proc/uptime", "/proc/loadavg", "/proc/stat", "/proc/cpuinfo", "/proc/version", "/proc/filesystems",
	"/sys/devices/system/cpu", "/etc/magic", "/nix/store",
}

// SweepTemporary removes the temporary folders that a killed bot with this workspace
// has left. No other such bot may run.
func SweepTemporary(workspace string) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix(workspace)+"*")) // the pattern is well-formed
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Geteuid()) {
			removeAll(dir)
		}
	}
}

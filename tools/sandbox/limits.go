package sandbox

import "math"

// spec says what our own program does, started again, before it becomes a
// command (Main).
type spec struct {
	// Join are the files of cgroups that the process enters.
	Join []string `json:",omitempty"`
	// AddressBytes, FileBytes, CPUSeconds and Processes are limits of the
	// process; 0 is none.
	AddressBytes, FileBytes, CPUSeconds, Processes uint64 `json:",omitempty"`
	// DataBytes is how much memory of its own the command may take; 0 is all.
	DataBytes uint64 `json:",omitempty"`
	// Cores is how many processors the process may use; 0 is all.
	Cores int `json:",omitempty"`
	// Seccomp leaves the descriptor of a filter to bwrap.
	Seccomp bool `json:",omitempty"`
	// Confine, if not nil, is what landlock grants. The command is then the
	// child of a guard; Guarded says that it has one, or needs none.
	Confine *confinement `json:",omitempty"`
	Guarded bool         `json:",omitempty"`
}

// confinement is what landlock grants to a command.
type confinement struct {
	Read, Write []string
	Network     bool
	// BestEffort takes what there is of a Landlock older than minLandlock.
	BestEffort bool `json:",omitempty"`
}

// bound makes the limits of a command: by cgroups where they are to be had, else
// by limits of processes, which the bot then watches.
func (s *Sandbox) bound(r *request, undo *[]func()) (*patrol, error) {
	l := s.config.Limits
	w := &patrol{disk: int64(l.DiskMB) << 20}
	for _, b := range r.binds {
		if b.Writable {
			w.folders = append(w.folders, b.Host)
		}
	}
	if s.backend.holdsLimits() {
		return w, nil
	}
	r.limit.FileBytes = uint64(l.DiskMB) << 20
	r.limit.CPUSeconds = uint64(math.Ceil(float64(l.Seconds)*l.CPUs)) + 1
	if s.cgroup != nil {
		g, err := s.cgroup.make(r.run, l)
		if err != nil {
			return nil, err
		}
		r.limit.Join, w.cgroup = g.join, g
		*undo = append(*undo, g.remove)
		return w, nil
	}
	r.limit.AddressBytes = uint64(l.MemoryMB) << 20
	r.limit.Processes = processesOfUser() + uint64(l.Pids)
	r.limit.Cores = int(math.Ceil(l.CPUs))
	w.memory, w.pids = int64(l.MemoryMB)<<20, l.Pids+ownProcesses
	return w, nil
}

// ownProcesses is how many processes of a command are the sandbox's own.
const ownProcesses = 3

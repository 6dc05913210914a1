package sandbox

import "math"

// bounds are what a program keeps to that runs under a guard. Only Linux has them.
type bounds struct {
	// Reports says that a program which cannot be run does not start. Else it ends
	// with an exit code and the reason on its standard error.
	Reports bool
	// Join are the files of cgroups that the program enters.
	Join []string
	// Usual sets the limits that every command in a sandbox has.
	Usual bool
	// AddressBytes, DataBytes, FileBytes, CPUSeconds and Processes are limits of the
	// process; 0 is none.
	AddressBytes, DataBytes, FileBytes, CPUSeconds, Processes uint64
	// Cores is how many processors the program may use; 0 is all.
	Cores int
	// Filter leaves a filter of system calls for bwrap (filterFD).
	Filter bool
	// Confine, if not nil, is what landlock grants.
	Confine *confinement
}

// confinement is what landlock grants to a command.
type confinement struct {
	Read, Write []string
	Network     bool
	// BestEffort takes what there is of a Landlock older than minLandlock.
	BestEffort bool
}

// bound makes the limits of a command: by cgroups where they are available, else by
// limits of processes, which the bot then watches.
func (s *Sandbox) bound(r *request, undo *[]func()) (*patrol, error) {
	l := s.config.Limits
	w := &patrol{disk: int64(l.DiskMB) << 20}
	for _, b := range r.binds {
		if b.Writable {
			w.folders = append(w.folders, b.Host)
		}
	}
	if s.holdsLimits() {
		return w, nil
	}
	r.bounds.Usual, r.bounds.FileBytes = true, uint64(l.DiskMB)<<20
	r.bounds.CPUSeconds = uint64(math.Ceil(float64(l.Seconds)*l.CPUs)) + 1
	if s.cgroup != nil {
		g, err := s.cgroup.make(r.run, l)
		if err != nil {
			return nil, err
		}
		r.bounds.Join, w.cgroup = g.join, g
		*undo = append(*undo, g.remove)
		return w, nil
	}
	r.bounds.AddressBytes = uint64(l.MemoryMB) << 20
	r.bounds.Processes = processesOfUser() + uint64(l.Pids)
	r.bounds.Cores = int(math.Ceil(l.CPUs))
	w.memory, w.pids = int64(l.MemoryMB)<<20, l.Pids+ownProcesses
	return w, nil
}

// ownProcesses is how many processes of a command are the sandbox's own.
const ownProcesses = 3

// Package seccomp holds the filters of system calls for commands: compiled as the
// kernel reads them, and in the language of nsjail. Which command gets which filter is
// decided by package sandbox.
package seccomp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// forbidden are the system calls that no command in a sandbox needs: they reach into the
// kernel or other processes, or bypass the limits.
var forbidden = []string{
	// new namespaces and mounts
	"unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsmount", "fsconfig", "fspick", "move_mount",
	"open_tree", "mount_setattr", "open_by_handle_at", "name_to_handle_at",
	// the kernel
	"bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
	"reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
	"add_key", "request_key", "keyctl", "iopl", "ioperm", "modify_ldt", "nfsservctl", "vhangup",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise", "process_mrelease",
	"move_pages", "migrate_pages", "setpriority", "ioprio_set", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
	// memory that no limit counts
	"shmget", "msgget", "mq_open",
}

// absent are the system calls that programs do without when the kernel lacks
// them: io_uring goes around the filter, clone3 hides its flags from it, and the
// memory of memfd is counted by no limit.
var absent = []string{"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "memfd_create", "memfd_secret"}

// byLandlock are what Landlock does not see.
var byLandlock = []string{
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
	"setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat",
}

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Kafel is the filter of Namespaced in the language that nsjail reads. It names the
// system calls by their numbers, because nsjail does not know all their names. Calls of
// other architectures kill in any case.
func Kafel() (string, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return "", fmt.Errorf("seccomp: %w", err)
	}
	calls := func(names []string) string {
		all := make([]string, 0, len(names))
		for _, name := range known(names) {
			all = append(all, fmt.Sprintf("SYSCALL[%d]", info.SyscallNames[name]))
		}
		return strings.Join(all, ", ")
	}
	clone := fmt.Sprintf("SYSCALL[%d](flags) { (flags & %#x) != 0 }", info.SyscallNames["clone"], newNamespaces)
	return fmt.Sprintf("ERRNO(%d) { %s } ERRNO(%d) { %s, %s } DEFAULT ALLOW",
		unix.ENOSYS, calls(absent), unix.EPERM, calls(forbidden), clone), nil
}

// when is a condition on an argument of a system call.
func when(argument uint32, op seccomp.Operation, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: op, Value: value}
}

// landlockFilter is for commands that have none.
func landlockFilter(network bool) seccomp.Policy {
	names := append(slices.Clone(forbidden), byLandlock...)
	conditions := []seccomp.NameWithConditions{
		// A datagram socket of a pair can send to any socket that has a path.
		{Name: "socketpair", Conditions: seccomp.ArgumentConditions{when(1, seccomp.BitsSet, unix.SOCK_DGRAM)}},
		// The limits of the bot are the user's, and so is the command.
		{Name: "prlimit64", Conditions: seccomp.ArgumentConditions{when(0, seccomp.NotEqual, 0), when(2, seccomp.NotEqual, 0)}},
	}
	if network {
		conditions = append(conditions, seccomp.NameWithConditions{Name: "socket", Conditions: seccomp.ArgumentConditions{
			when(0, seccomp.NotEqual, unix.AF_INET), when(0, seccomp.NotEqual, unix.AF_INET6), when(0, seccomp.NotEqual, unix.AF_NETLINK),
		}})
	} else {
		names = append(names, "socket")
	}
	return filter(names, conditions)
}

func filter(names []string, conditions []seccomp.NameWithConditions) seccomp.Policy {
	conditions = append(conditions, seccomp.NameWithConditions{
		Name: "clone", Conditions: seccomp.ArgumentConditions{when(0, seccomp.BitsSet, newNamespaces)},
	})
	return seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Names: known(absent), Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)},
			{Names: known(names), NamesWithCondtions: conditions, Action: seccomp.ActionErrno | seccomp.Action(unix.EPERM)},
		},
	}
}

// known are the names that this machine has.
func known(names []string) []string {
	info, err := arch.GetInfo("")
	if err != nil {
		return names // Assemble says so
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, there := info.SyscallNames[name]
		return !there
	})
}

// assemble makes the program of a policy. The library lets the calls of other
// architectures through, which a 64-bit program can make too; here they kill.
func assemble(p seccomp.Policy) ([]bpf.RawInstruction, error) {
	instructions, err := p.Assemble()
	if err != nil {
		return nil, err
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	const architecture = 4 // offset in struct seccomp_data
	return bpf.Assemble(append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: architecture, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
	}, instructions...))
}

// The filters as the kernel and bwrap read them: for commands with namespaces of their
// own, and for those of landlock without and with the network.
var (
	Namespaced = compiled(func() seccomp.Policy { return filter(forbidden, nil) })
	Offline    = compiled(func() seccomp.Policy { return landlockFilter(false) })
	Online     = compiled(func() seccomp.Policy { return landlockFilter(true) })
)

func compiled(policy func() seccomp.Policy) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		raw, err := assemble(policy())
		if err != nil {
			return nil, fmt.Errorf("seccomp: %w", err)
		}
		var text bytes.Buffer
		err = binary.Write(&text, binary.NativeEndian, raw)
		return text.Bytes(), err
	})
}

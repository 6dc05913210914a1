package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// childName is the name under which our own program is started again, to confine
// itself and then become a command.
const childName = "klawbot-sandbox"

// notStarted is the exit code of a command that the sandbox could not start.
const notStarted = 126

// Main is the first line of main. In a program that was started to become a
// command it never returns; in any other it does nothing.
func Main() {
	if len(os.Args) < 3 || os.Args[0] != childName {
		return
	}
	runtime.LockOSThread() // what is confined is a thread
	debug.SetGCPercent(-1) // it does not live long
	var s spec
	err := json.Unmarshal([]byte(os.Args[1]), &s)
	if err == nil && s.Confine != nil && !s.Guarded {
		var code int
		if code, err = guard(s, os.Args[2:]); err == nil {
			os.Exit(code)
		}
	}
	if err == nil {
		err = become(s, os.Args[2:])
	}
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	os.Exit(notStarted)
}

// reexec starts our own program again, to become argv in dir.
func reexec(r *request, dir string, argv []string) *exec.Cmd {
	text, err := json.Marshal(r.limit)
	if err != nil {
		panic(err) // strings and numbers
	}
	c := &exec.Cmd{Path: "/proc/self/exe", Args: append([]string{childName, string(text)}, argv...), Env: r.env, Dir: dir}
	if dir == "" {
		c.Dir = "/"
	}
	if r.limit.Confine != nil && !r.limit.Guarded {
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // for the guard
	}
	return c
}

// become keeps to the spec, and becomes the command.
func become(s spec, argv []string) error {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", argv[0], s.exec(program, argv))
}

// prepare keeps this thread to the spec, but for the limits that exec takes.
func (s spec) prepare() error {
	for _, file := range s.Join {
		if err := os.WriteFile(file, []byte("0"), 0); err != nil {
			return err
		}
	}
	if s.Seccomp {
		if err := offerFilter(); err != nil {
			return err
		}
	}
	if s.Cores > 0 {
		if err := useCores(s.Cores); err != nil {
			return err
		}
	}
	if err := s.setLimits(); err != nil {
		return err
	}
	if s.Confine != nil {
		return s.Confine.apply()
	}
	return nil
}

// exec becomes the program. The limits of memory and of processes are below what
// this one has already, so nothing may be allocated and no thread started between
// them and the end.
func (s spec) exec(program string, argv []string) error {
	path, err := syscall.BytePtrFromString(program)
	if err != nil {
		return err
	}
	arguments, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	environment, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	data := syscall.Rlimit{Cur: s.DataBytes, Max: s.DataBytes}
	memory, processes := syscall.Rlimit{Cur: s.AddressBytes, Max: s.AddressBytes}, syscall.Rlimit{Cur: s.Processes, Max: s.Processes}
	if s.AddressBytes > 0 {
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, unix.RLIMIT_NPROC, uintptr(unsafe.Pointer(&processes)), 0, 0, 0); e != 0 {
			return e
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, unix.RLIMIT_AS, uintptr(unsafe.Pointer(&memory)), 0, 0, 0); e != 0 {
			return e
		}
	}
	if s.DataBytes > 0 {
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, uintptr(unsafe.Pointer(&data)), 0, 0, 0); e != 0 {
			return e
		}
	}
	_, _, e := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(&arguments[0])), uintptr(unsafe.Pointer(&environment[0])))
	return e
}

// guard runs the command as its child and outlives it, so that what the command
// leaves behind stays below it and is killed. It is not confined itself.
func guard(s spec, argv []string) (code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	killOnceOrphaned()
	var pid int
	onPassingThread(func() { pid, err = s.fork(argv) })
	if err != nil {
		return 0, fmt.Errorf("%s: %w", argv[0], err)
	}
	// The command's pipes end with the command.
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		f.Close()
	}
	for {
		var status syscall.WaitStatus
		child, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if child == pid {
			code = exitStatus(status)
			break
		}
	}
	killBelow(os.Getpid())
	return code, nil
}

// onPassingThread calls f on a thread that ends afterwards. The first thread of
// a process cannot.
func onPassingThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for ever, so that the thread ends with this function
		if unix.Gettid() == os.Getpid() {
			onPassingThread(f)
			return
		}
		f()
	}()
	<-done
}

// fork starts the command. Where cgroups hold the memory, this thread is
// confined, and what it starts with it; the thread must end then, because the
// command may signal every thread that is confined as it is. Limits of the memory
// of a process are too tight for the guard: there this program is started once
// more to take them.
func (s spec) fork(argv []string) (pid int, err error) {
	program := "/proc/self/exe"
	if s.AddressBytes > 0 {
		s.Guarded = true
		text, err := json.Marshal(s)
		if err != nil {
			return 0, err
		}
		argv = append([]string{childName, string(text)}, argv...)
	} else {
		if program, err = exec.LookPath(argv[0]); err != nil {
			return 0, err
		}
		if err := s.prepare(); err != nil {
			return 0, err
		}
	}
	return syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// killOnceOrphaned kills what is below the guard when the bot is gone.
func killOnceOrphaned() {
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGTERM)
	go func() {
		<-gone
		killBelow(os.Getpid())
		os.Exit(128 + int(syscall.SIGTERM))
	}()
}

// ruleset makes the rules of Landlock.
func (c *confinement) ruleset() (fd int, err error) {
	read, err := rules(c.Read, landlock.RODirs, landlock.ROFiles)
	if err != nil {
		return -1, err
	}
	write, err := rules(c.Write, func(p ...string) landlock.FSRule { return landlock.RWDirs(p...).WithRefer() }, landlock.RWFiles)
	if err != nil {
		return -1, err
	}
	config := landlock.V6
	if c.Network {
		config.HandledAccessNet = 0
	}
	if c.BestEffort {
		config = config.BestEffort()
	}
	fd, _, err = config.NewRulesetFD(append(read, write...)...) // V6 has no flags
	if err != nil {
		return -1, fmt.Errorf("landlock: %w", err)
	}
	if fd < 0 {
		return -1, errors.New("landlock: this kernel has none")
	}
	return fd, nil
}

// apply confines this thread, and what it becomes.
func (c *confinement) apply() error {
	if err := seccomp.SetNoNewPrivs(); err != nil {
		return err
	}
	ruleset, err := c.ruleset()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(ruleset) }() // nothing was written
	if err := ll.LandlockRestrictSelf(ruleset, 0); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	dropCapabilities()
	return loadFilter(landlockFilter(c.Network))
}

// rules are the rules for paths, which are folders or files.
func rules(paths []string, dirs, files func(...string) landlock.FSRule) (all []landlock.Rule, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			all = append(all, dirs(p))
		default:
			all = append(all, files(p))
		}
	}
	return all, nil
}

// dropCapabilities takes from root what it is beyond its files.
func dropCapabilities() {
	for c := range uintptr(64) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // only root has any
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// minLandlock is the version of Landlock that keeps commands from signalling
// the processes outside.
const minLandlock = 6

// landlockSupport says what is missing for landlock.
func landlockSupport() error {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return errors.New("this kernel has no Landlock; use bwrap or docker")
	}
	if v < minLandlock {
		return fmt.Errorf("this kernel's Landlock is too old (version %d, %d is needed, Linux 6.12); use bwrap or docker", v, minLandlock)
	}
	return nil
}

// minReading is the version of Landlock that keeps a program from files. Below it a
// rule that lets files be moved would be no rule.
const minReading = 2

// readingSupport says what is missing for a Reach.
func readingSupport() error {
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < minReading {
		return errors.New("this kernel has no Landlock, or too old a one (Linux 5.19 is needed)")
	}
	return nil
}

// maxFiles is how many files a command may have open.
const maxFiles = 1024

// setLimits sets the limits of the process that this program can live with.
func (s spec) setLimits() error {
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_FSIZE, s.FileBytes}, {unix.RLIMIT_CPU, s.CPUSeconds}, {unix.RLIMIT_NOFILE, maxFiles},
	} {
		if l.value == 0 {
			continue
		}
		if err := setLimit(l.resource, l.value); err != nil {
			return err
		}
	}
	return syscall.Setrlimit(unix.RLIMIT_CORE, &syscall.Rlimit{})
}

// setLimit lowers a limit, never raises it.
func setLimit(resource int, value uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(resource, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: value, Max: value})
}

// useCores keeps the process on the first n of its processors.
func useCores(n int) error {
	var now, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &now); err != nil {
		return err
	}
	for cpu := 0; n > 0 && cpu < len(now)*64; cpu++ {
		if now.IsSet(cpu) {
			some.Set(cpu)
			n--
		}
	}
	return unix.SchedSetaffinity(0, &some)
}

// exitStatus is the exit code as a shell says it.
func exitStatus(s syscall.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}

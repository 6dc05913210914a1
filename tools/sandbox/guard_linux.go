package sandbox

import "C" // for guard_linux.c

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"klawbot/tools/sandbox/seccomp"
)

// guardName is the name under which our own program is started again as the guard of
// a command.
const guardName = "klawbot-guard"

// filterFD is the descriptor of the filter of system calls (guard_linux.c).
const filterFD = 5

// start starts the stage under a guard.
func (s *stage) start() error {
	handed, report, err := s.handed()
	defer func() {
		for _, f := range append(handed, report) {
			f.Close() // nil is fine
		}
	}()
	if err != nil {
		return err
	}
	program := s.Path
	s.Path, s.Args, s.ExtraFiles = "/proc/self/exe", []string{guardName}, handed
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := s.Start(); err != nil {
		var path *os.PathError
		if errors.As(err, &path) { // it names this program
			path.Path = program
		}
		return err
	}
	if report == nil {
		return nil
	}
	handed[1].Close()
	var why [4]byte
	if _, err := io.ReadFull(report, why[:]); err != nil {
		return nil // it was closed by the start of the command
	}
	_ = s.Wait() // it says no more
	return &os.PathError{Op: "fork/exec", Path: program, Err: syscall.Errno(binary.NativeEndian.Uint32(why[:]))}
}

// stop ends the stage and all its processes. It does not wait for it.
func (s *stage) stop() {
	_ = s.Process.Signal(syscall.SIGTERM) // it may be gone
	_ = s.Process.Signal(syscall.SIGCONT) // the command may have stopped it
}

// ask asks the command of the stage to end.
func (s *stage) ask() { _ = s.Process.Signal(syscall.SIGUSR1) } // it may be gone

// handed are the files for the guard, of which the first has the descriptor 3. report
// tells why the program did not start; it is nil when the command's own output does.
func (s *stage) handed() (files []*os.File, report *os.File, err error) {
	files = make([]*os.File, 4)
	if slices.ContainsFunc(s.words(), func(word string) bool { return strings.IndexByte(word, 0) >= 0 }) {
		return files, nil, &os.PathError{Op: "fork/exec", Path: s.Path, Err: syscall.EINVAL} // it would become two words
	}
	if files[0], err = inMemory([]byte(strings.Join(s.words(), "\x00") + "\x00")); err != nil {
		return files, nil, err
	}
	if s.bounds.Reports {
		report, files[1], err = os.Pipe()
		return files, report, err
	}
	if filter := s.bounds.filter(); filter != nil {
		text, err := filter()
		if err != nil {
			return files, nil, err
		}
		if files[filterFD-3], err = inMemory(text); err != nil {
			return files, nil, err
		}
	}
	if s.bounds.Confine != nil {
		files[3], err = s.bounds.Confine.ruleset()
	}
	return files, nil, err
}

// filter is the filter of system calls, nil for none.
func (b bounds) filter() func() ([]byte, error) {
	switch {
	case b.Confine != nil && b.Confine.Network:
		return seccomp.Online
	case b.Confine != nil:
		return seccomp.Offline
	case b.Filter:
		return seccomp.Namespaced
	}
	return nil
}

// words tell the guard what to do before it becomes the command (guard_linux.c).
func (s *stage) words() (words []string) {
	b := s.bounds
	for _, file := range b.Join {
		words = append(words, "join", file)
	}
	if b.Cores > 0 {
		words = append(words, "cores", strconv.Itoa(b.Cores))
	}
	if b.Confine != nil {
		words = append(words, "confine")
	}
	limit := func(resource int, value uint64) {
		words = append(words, "limit", strconv.Itoa(resource), strconv.FormatUint(value, 10))
	}
	if b.Usual {
		limit(unix.RLIMIT_NOFILE, maxFiles)
		limit(unix.RLIMIT_CORE, 0)
	}
	// That of addresses comes last: the guard itself has more.
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_FSIZE, b.FileBytes}, {unix.RLIMIT_CPU, b.CPUSeconds}, {unix.RLIMIT_NPROC, b.Processes},
		{unix.RLIMIT_DATA, b.DataBytes}, {unix.RLIMIT_AS, b.AddressBytes},
	} {
		if l.value > 0 {
			limit(l.resource, l.value)
		}
	}
	return append(append(words, "", s.Path), s.Args...)
}

// maxFiles is how many files a command in a sandbox may have open.
const maxFiles = 1024

// inMemory is a file in memory with a text.
func inMemory(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("klawbot", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "klawbot")
	_, err = f.Write(text)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func kafelPolicy() (string, error) { return seccomp.Kafel() }

package bot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// closeOff keeps what the bot holds from the commands that it runs outside a
// sandbox, which are processes of the same user: Linux shows them neither the
// bot's environment nor its memory any more, and lets them not attach to it. Root
// may look all the same, so the values in the environment that secret finds are
// wiped first. The bot has read them by then.
func closeOff(secret func(value string) bool) error {
	if err := wipe(secret); err != nil {
		return fmt.Errorf("wipe the environment: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other processes out: %w", err)
	}
	return nil
}

// wipe overwrites values with zero bytes where Linux shows the environment that
// the process was started with. What Go's os package tells of it is a copy.
func wipe(secret func(value string) bool) error {
	from, to, err := environment()
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		return nil // it was closed off before
	}
	if err != nil {
		return err
	}
	defer memory.Close()
	text := make([]byte, to-from)
	if _, err := memory.ReadAt(text, from); err != nil {
		return err
	}
	for pair := range bytes.SplitAfterSeq(bytes.Clone(text), []byte{0}) {
		if name, value, _ := strings.Cut(strings.TrimSuffix(string(pair), "\x00"), "="); value != "" && secret(value) {
			if _, err := memory.WriteAt(make([]byte, len(value)), from+int64(len(name)+1)); err != nil {
				return err
			}
		}
		from += int64(len(pair))
	}
	return nil
}

// environment is where the kernel says the environment lies.
func environment() (from, to int64, err error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	// The name of the program may hold spaces and ends with the last bracket.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const envStart = 50 - 3 // the fields of proc(5) count from 1, and two are cut off
	if len(fields) < envStart+2 {
		return 0, 0, errors.New("the kernel does not say where it is")
	}
	if _, err := fmt.Sscan(fields[envStart]+" "+fields[envStart+1], &from, &to); err != nil {
		return 0, 0, err
	}
	if from <= 0 || to < from {
		return 0, 0, errors.New("the kernel does not say where it is")
	}
	return from, to, nil
}

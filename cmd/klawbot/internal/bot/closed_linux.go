package bot

// #include <string.h>
// extern char **environ;
// // Go's own reference to the variable does not link for arm64.
// static char **environment(void) { return environ; }
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// closeOff keeps what the bot holds from the commands that it runs outside a
// sandbox, which are processes of the same user: Linux shows them neither the
// bot's environment nor its memory any more, and lets them not attach to it.
//
// Root may look all the same. Who runs a bot as root with its token in the
// environment would show it to every command that reads /proc/PID/environ, so the
// values that secret finds are wiped there first. The bot has read them by then.
func closeOff(secret func(value string) bool) error {
	wipe(secret)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other processes out: %w", err)
	}
	return nil
}

// wipe overwrites values with zero bytes in the environment that the process was
// started with, which Linux shows. What Go's os package tells of it is a copy.
func wipe(secret func(value string) bool) {
	for entry := C.environment(); *entry != nil; entry = (**C.char)(unsafe.Add(unsafe.Pointer(entry), unsafe.Sizeof(*entry))) {
		if name, value, _ := strings.Cut(C.GoString(*entry), "="); value != "" && secret(value) {
			C.memset(unsafe.Add(unsafe.Pointer(*entry), len(name)+1), 0, C.size_t(len(value)))
		}
	}
}

//go:build linux && cgo

package sandbox

// int klawbot_swift(void);
import "C"

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// swiftName is the name under which our own program is started again to become a
// command before Go gets ready (swift_linux.c).
const swiftName = "klawbot-confined"

// swift reports whether this program can.
var swift = sync.OnceValue(func() bool { return C.klawbot_swift() != 0 })

// swiftly is reexec for a command that is confined and without a guard. What the
// program is confined by is made here and handed to it.
func swiftly(r *request, dir string, argv []string) (*exec.Cmd, error) {
	ruleset, err := r.limit.Confine.ruleset()
	if err != nil {
		return nil, err
	}
	handed := []*os.File{os.NewFile(uintptr(ruleset), "ruleset")}
	filter, err := handedFilter(r.limit.Confine.Network)
	if err != nil {
		handed[0].Close()
		return nil, err
	}
	handed = append(handed, filter)
	r.handed = append(r.handed, handed...)
	args := append([]string{swiftName, strconv.FormatUint(r.limit.DataBytes, 10)}, argv...)
	return &exec.Cmd{Path: "/proc/self/exe", Args: args, Env: r.env, Dir: dir, ExtraFiles: handed}, nil
}

// filters are the filters for commands without and with the network, as the kernel
// reads them.
var filters = map[bool]func() ([]byte, error){false: sync.OnceValues(rawFilter(false)), true: sync.OnceValues(rawFilter(true))}

func rawFilter(network bool) func() ([]byte, error) {
	return func() ([]byte, error) {
		raw, err := assemble(landlockFilter(network))
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = binary.Write(&text, binary.NativeEndian, raw)
		return text.Bytes(), err
	}
}

// handedFilter is a pipe with a filter in it, which fits into one.
func handedFilter(network bool) (*os.File, error) {
	text, err := filters[network]()
	if err != nil {
		return nil, err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if _, err := out.Write(text); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

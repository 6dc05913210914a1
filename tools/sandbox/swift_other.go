//go:build !linux || !cgo

package sandbox

import (
	"errors"
	"os/exec"
)

func swift() bool { return false }

func swiftly(*request, string, []string) (*exec.Cmd, error) { return nil, errors.ErrUnsupported }

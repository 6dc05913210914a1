// Package onnx loads the ONNX Runtime library and chooses the options of sessions,
// for every package that computes with it. It knows no model.
package onnx

import (
	"errors"
	"fmt"
	"os"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// environment is the library, which a process loads once and keeps.
var environment struct {
	sync.Mutex
	library string
}

// Load loads the library. A second call with the same file does nothing.
func Load(library string) error {
	environment.Lock()
	defer environment.Unlock()
	if environment.library != "" {
		if environment.library != library {
			return fmt.Errorf("the ONNX Runtime %s is loaded already; restart klawbot to use %s", environment.library, library)
		}
		return nil
	}
	if _, err := os.Stat(library); err != nil {
		return fmt.Errorf("the ONNX Runtime library: %w", err)
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("the ONNX Runtime library %s: %w", library, err)
	}
	environment.library = library
	return nil
}

// Options keep the processor free for others: no spinning threads. The caller
// destroys them.
func Options(threads int) (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		o.SetIntraOpNumThreads(threads),
		o.SetInterOpNumThreads(1),
		o.SetMemPattern(false), // of no use where every batch has another shape
		o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
	)
	if err != nil {
		return nil, errors.Join(err, o.Destroy())
	}
	return o, nil
}

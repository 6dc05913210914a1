package keys

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one wrong value of the configuration.
type Fault struct {
	// Where is the file and the line, or the variable of the environment.
	Where string
	// Key is the dotted path, empty when the file as a whole is wrong.
	Key string
	// Text says what is allowed. It never holds a secret.
	Text string
}

func (f Fault) String() string {
	parts := slices.DeleteFunc([]string{f.Where, f.Key, f.Text}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// Faults are all that is wrong, in the order of the lines.
type Faults []Fault

// Add adds a fault.
func (f *Faults) Add(where, key, format string, args ...any) {
	*f = append(*f, Fault{where, key, fmt.Sprintf(format, args...)})
}

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

// Explained are the faults, each with what is noted about its key: a value may be wrong
// because its variable is not set.
func (r *Reader) Explained() Faults {
	for i, f := range r.Faults {
		for _, n := range r.Notes {
			if f.Key != "" && strings.Join(n.Path, ".") == f.Key {
				r.Faults[i].Text += " (" + n.Why + ")"
			}
		}
	}
	return r.Faults
}

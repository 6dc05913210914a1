// Package program finds programs for questions that every turn asks: a look through all
// directories of PATH costs more than the rest of such a question.
package program

import (
	"os"
	"os/exec"
	"sync"
	"time"
)

// lookEvery is how soon a program that was installed or removed is noticed.
const lookEvery = 5 * time.Second

type key struct{ name, path string }

type look struct {
	at    time.Time
	found string
}

var (
	mu    sync.Mutex
	looks = map[key]look{} // guarded by mu
)

// Find is exec.LookPath that looks every few seconds; "" when there is no such program.
func Find(name string) string {
	k := key{name, os.Getenv("PATH")}
	mu.Lock()
	defer mu.Unlock()
	last, known := looks[k]
	if since := time.Since(last.at); !known || since < 0 || since >= lookEvery {
		found, err := exec.LookPath(name)
		if err != nil {
			found = ""
		}
		last = look{time.Now(), found}
		looks[k] = last
	}
	return last.found
}

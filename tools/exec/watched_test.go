package exec

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// TestWatchedIsBounded: with too many files and folders there is no state to compare.
func TestWatchedIsBounded(t *testing.T) {
	files := fstest.MapFS{}
	for i := range maxWatched - 1 { // and the root
		files[fmt.Sprint(i)] = &fstest.MapFile{}
	}
	if state, tooMany := watched(files, true); state == "" || tooMany {
		t.Errorf("%d files: %q, %v", len(files), state, tooMany)
	}
	files["one more"] = &fstest.MapFile{}
	if state, tooMany := watched(files, true); state != "" || !tooMany {
		t.Errorf("%d files: %q, %v", len(files), state, tooMany)
	}
}

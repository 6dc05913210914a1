//go:build bench

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompareProcessor compares the processor time of a turn in several builds, in rounds of
// one run: BUILDS lists the programs, separated by colons. make bench leaves it out: it takes
// minutes for each build.
func TestCompareProcessor(t *testing.T) {
	builds := filepath.SplitList(os.Getenv("BUILDS"))
	if len(builds) == 0 {
		builds = []string{buildBinary(t)}
	}
	b := &figures{t: t}
	for _, streaming := range []string{"off", "edit"} {
		spent := map[string][]float64{}
		for range 3 {
			for _, build := range builds {
				_, _, computed := b.talk(build, streaming, func(*rig) {})
				spent[build] = append(spent[build], computed)
			}
		}
		for _, build := range builds {
			slices.Sort(spent[build])
			b.add(fmt.Sprintf("processor time per turn, streaming %s, %s", streaming, build), spent[build][1], "ms", "", true)
		}
	}
	t.Log("\n" + strings.Join(b.rows, "\n"))
}

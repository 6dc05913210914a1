//go:build (bench || crash || soak) && linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// residentMB is the resident memory of a process now, in megabytes.
func residentMB(t testing.TB, pid int) float64 { return memoryMB(t, pid, "VmRSS:") }

// memoryMB reads one of the sizes that Linux tells about a process.
func memoryMB(t testing.TB, pid int, what string) float64 {
	t.Helper()
	mb, err := memoryOf(pid, what)
	if err != nil {
		t.Fatal(err)
	}
	return mb
}

// memoryOf is memoryMB for a process that may have ended.
func memoryOf(pid int, what string) (float64, error) {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == what {
			kb, err := strconv.ParseFloat(f[1], 64)
			return kb / 1000, err
		}
	}
	return 0, fmt.Errorf("process %d has no %s", pid, what)
}

// processorTime is how long a process has computed, in user mode and in the
// kernel. Linux counts it in hundredths of a second.
func processorTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name of the program may hold spaces and ends with the last bracket.
	_, rest, _ := strings.Cut(string(body[strings.LastIndexByte(string(body), ')'):]), " ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, i := range []int{11, 12} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

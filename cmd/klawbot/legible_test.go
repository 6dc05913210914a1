package main

import "testing"

// TestLegible: line ends of Windows are no control characters of a terminal.
func TestLegible(t *testing.T) {
	for output, want := range map[string]string{"a\r\nb\r\n": "a\nb", "a\r\n": "a", "a\n": "a", "a\rb": "a\ufffdb", "": ""} {
		if got := legible(output); got != want {
			t.Errorf("%q is shown as %q, want %q", output, got, want)
		}
	}
}

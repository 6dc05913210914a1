package engine_test

import (
	"os"
	"testing"

	"klawbot/engine"
)

// TestMain: a bot reads files in a child, which is this program.
func TestMain(m *testing.M) {
	engine.MediaMain()
	os.Exit(m.Run())
}

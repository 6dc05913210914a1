package bot

import (
	"os"
	"testing"

	"klawbot/tools/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main() // a command in a sandbox begins here
	os.Exit(m.Run())
}

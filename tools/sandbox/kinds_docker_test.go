//go:build linux && sandbox

package sandbox_test

import (
	"os"

	"klawbot/tools/sandbox"
)

// tested are the sandboxes that every test of them runs in. scripts/sandbox-tests
// starts the daemon of docker and makes its image; the user nobody may not use it.
var tested = kindsOf(os.Getuid())

func kindsOf(user int) []string {
	if user == nobody {
		return []string{sandbox.TypeLandlock, sandbox.TypeBwrap, sandbox.TypeNsjail}
	}
	return []string{sandbox.TypeLandlock, sandbox.TypeBwrap, sandbox.TypeNsjail, sandbox.TypeDocker}
}

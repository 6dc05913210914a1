//go:build documents

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocumentScripts runs the stories with what make assets has brought, at $ASSETS.
func TestDocumentScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/documents",
		Setup: func(env *testscript.Env) error {
			env.Setenv("ASSETS", os.Getenv("ASSETS_DIR"))
			return setFakes(env)
		},
		Cmds: storyCommands,
	})
}

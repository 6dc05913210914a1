package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// release is the version of this source; CHANGELOG.md says what is in it.
const release = "0.1.0"

// described is what git describe says of the source. The linker sets it.
var described string

// version is the release, with what git says behind it where that is more.
var version = versionOf(described)

// versionOf leaves out what git describe repeats: the tag of the release.
func versionOf(described string) string {
	more := strings.TrimPrefix(strings.TrimPrefix(described, "v"+release), "-")
	if more == "" || more == "dev" { // without git
		return release
	}
	return release + "+" + more
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, "klawbot "+version)
			return err
		},
	}
}

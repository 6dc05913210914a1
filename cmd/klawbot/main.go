// Command klawbot is a self-hosted assistant that people talk to in Telegram.
//
// It holds the commands; everything they do is done by other packages.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"klawbot/engine"
)

func main() {
	engine.MediaMain()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := newApp(os.Environ(), stdin, stdout, stderr)
	a.called = os.Args[0]
	return a.execute(ctx, args)
}

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

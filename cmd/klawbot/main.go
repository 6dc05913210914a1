// Command klawbot is a self-hosted assistant that people talk to in Telegram.
//
// It holds the command line, the configuration and the wiring; everything it
// does is done by the packages that it wires.
package main

import (
	"context"
	"io"
	"os"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := newApp(os.Environ(), stdin, stdout, stderr)
	return a.execute(ctx, args)
}

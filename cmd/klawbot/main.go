// Command klawbot is a self-hosted assistant that people talk to in Telegram.
//
// It holds the commands; everything they do is done by other packages.
package main

import (
	"context"
	"io"
	"os"

	"klawbot/tools/sandbox"
)

func main() {
	sandbox.Main() // a command in a sandbox begins here
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := newApp(os.Environ(), stdin, stdout, stderr)
	return a.execute(ctx, args)
}

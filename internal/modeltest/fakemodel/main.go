// Command fakemodel serves the fake of the OpenAI API for tests that need it in
// a process of its own. It prints its URL and runs until it is told to end. The
// rules that it may be given are those of modeltest.Rules.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"klawbot/internal/modeltest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on")
	key := flags.String("key", "", "key that every request must have; empty takes all")
	blind := flags.String("blind", "", "words to refuse pictures with; empty takes them")
	script := flags.String("script", "", "file of rules, one JSON object a line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	fake := modeltest.New(*key)
	fake.Blind(*blind)
	if *script != "" {
		text, err := os.ReadFile(*script)
		if err != nil {
			return err
		}
		respond, err := modeltest.Rules(text)
		if err != nil {
			return fmt.Errorf("%s: %w", *script, err)
		}
		fake.Respond(respond)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "http://%s/v1\n", l.Addr())
	return serve(ctx, l, fake)
}

// serve answers until ctx ends, and waits a moment for running answers.
func serve(ctx context.Context, l net.Listener, fake *modeltest.Server) error {
	server := &http.Server{Handler: fake, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	fake.Close()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(end); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	<-done
	return nil
}

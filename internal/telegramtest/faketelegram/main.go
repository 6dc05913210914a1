// Package main serves the fake Telegram Bot API to other processes: stories,
// container tests and tests that kill the bot. It holds no logic of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"klawbot/internal/telegramtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "faketelegram:", err)
		os.Exit(1)
	}
}

// run prints the server's URL on the first line and serves until ctx ends.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("faketelegram", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to serve on; port 0 takes a free one")
	token := flags.String("token", telegramtest.DefaultToken, "the bot's token")
	bot := flags.String("bot", "", "the bot's user name, without @")
	limits := flags.Bool("limits", false, "refuse messages that come too fast")
	network := flags.Duration("network", telegramtest.UsualNetwork, "how long a call takes at most on its way here and back; 0 is no time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	s := telegramtest.New(telegramtest.Config{
		Token: *token, Bot: telegramtest.User{Username: *bot}, Limits: *limits, Listener: l, Network: *network,
	})
	defer s.Close()
	if _, err := fmt.Fprintln(stdout, s.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

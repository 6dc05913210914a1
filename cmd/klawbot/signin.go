package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/tools/mcp"
)

// signInTime is how long somebody may take to sign in.
const signInTime = 10 * time.Minute

// listenForCallback listens where a client that was registered by hand is led
// to, or anywhere else when that is taken.
func listenForCallback() (net.Listener, error) {
	usual, err := url.Parse(mcp.Redirect)
	if err != nil {
		return nil, err
	}
	if ln, err := net.Listen("tcp", usual.Host); err == nil {
		return ln, nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// signIn lets whoever sits at the terminal sign in at an MCP server in a
// browser: the page leads back to an address of this machine, or the person
// pastes the address that the browser shows in the end.
func signIn(w io.Writer, ask *terminal.Prompter) (at mcp.SignIn, done func()) {
	redirect, arrived := mcp.Redirect, make(chan string, 1)
	done = func() {}
	if ln, err := listenForCallback(); err == nil {
		redirect = "http://" + ln.Addr().String() + "/callback"
		server := &http.Server{ReadHeaderTimeout: bot.StatusTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "You can close this page and go back to klawbot.")
			select {
			case arrived <- redirect + "?" + r.URL.RawQuery:
			default:
			}
		})}
		go func() { _ = server.Serve(ln) }() // until it is closed
		done = func() { _ = server.Close() } // nobody is left to be told
	}
	return mcp.SignIn{Redirect: redirect, Visit: func(ctx context.Context, server, page string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, signInTime)
		defer cancel()
		fmt.Fprintf(w, "%s wants you to sign in. Open this page in a browser:\n\n%s\n\nThen come back here. If the browser runs on another machine, paste the address that it shows in the end:\n", server, terminal.Visible(page))
		select {
		case address := <-arrived:
			return address, nil
		case line := <-ask.Next():
			ask.Taken()
			return strings.TrimSpace(line.Text), line.Err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}, done
}

package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"klawbot/gateway"
)

// The bounds of a request.
const (
	headerWithin = 5 * time.Second
	readWithin   = 10 * time.Second
	writeWithin  = 5 * time.Second
	fileWithin   = 5 * time.Minute
	listenEvery  = 5 * time.Second
	maxForm      = 64 << 10
	maxHeader    = 16 << 10
)

// Serve listens until ctx ends. An address that is taken is one warning, and tried again.
func (c *Channel) Serve(ctx context.Context, accept gateway.Accept) error {
	c.mu.Lock()
	c.accept = accept
	c.mu.Unlock()
	close(c.serving)
	if err := c.handAgain(ctx); err != nil && ctx.Err() == nil {
		c.config.Log.Warn("messages of the web page not handed over again", "err", err)
	}
	for told := false; ctx.Err() == nil; {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", c.config.Listen)
		if err != nil && ctx.Err() == nil {
			if !told {
				c.config.Log.Warn("the web page is not served; choose another channels.web.listen", "listen", c.config.Listen, "err", err)
			}
			told = true
			c.down(unserved(c.config.Listen, err))
		} else if err == nil {
			c.down("")
			c.serveOn(ctx, ln)
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenEvery):
		}
	}
	return nil
}

// Handler answers the requests of browsers, for a server of the caller's own.
func (c *Channel) Handler() http.Handler { return c.site }

// unserved is why an address cannot be listened at, in words.
func unserved(at string, err error) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return at + " is taken by another program"
	}
	return err.Error()
}

// down notes why the page is not served, "" when it is.
func (c *Channel) down(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = why
	if !c.once {
		c.once = true
		close(c.tried)
	}
}

// Listening waits until it was tried once to serve the page, and says why it is not served:
// a link would lead to whatever has the address.
func (c *Channel) Listening(ctx context.Context) error {
	select {
	case <-c.tried:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault != "" {
		return fmt.Errorf("the web page isn't served: %s; choose another channels.web.listen", c.fault)
	}
	return nil
}

func (c *Channel) serveOn(ctx context.Context, ln net.Listener) {
	server := &http.Server{
		Handler: c.site, ReadHeaderTimeout: headerWithin, ReadTimeout: readWithin, WriteTimeout: readWithin, IdleTimeout: time.Minute,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(c.config.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // the process ends
	defer stop()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		c.config.Log.Error("the web page ended", "err", err)
	}
}

// Link is a new address that signs a browser in once. The one before ends.
func (c *Channel) Link() string {
	base := "http://" + c.config.Listen
	if c.config.Public != nil {
		base = c.config.Public.String()
	} else if host, port, err := net.SplitHostPort(c.config.Listen); err == nil && (host == "" || net.ParseIP(host) != nil && net.ParseIP(host).IsUnspecified()) {
		base = "http://127.0.0.1:" + port
	}
	return base + "/in/" + c.codes.make()
}

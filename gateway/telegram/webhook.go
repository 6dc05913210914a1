package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"golang.org/x/sync/errgroup"

	"klawbot/gateway"
)

// Webhook says how Telegram brings updates instead of being polled for them.
type Webhook struct {
	// Listen is where plain HTTP is served, "127.0.0.1:8443". TLS is the
	// business of a reverse proxy in front of it.
	Listen string
	// URL is the https address under which Telegram reaches the proxy. Required.
	URL string
	// Secret comes back with every update and proves that Telegram sent it: 1 to
	// 256 of A-Z, a-z, 0-9, _ and -. Required.
	Secret string
	// Listener is served instead of Listen when it is not nil.
	Listener net.Listener
}

const (
	// secretHeader holds the secret in a push.
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	// maxPush bounds the body of one update.
	maxPush = 1 << 20
	// hookGrace is how long a push may take to be stored after the end.
	hookGrace = 5 * time.Second
)

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// Check reports what is missing: nil, or a line for people.
func (w Webhook) Check() error {
	u, err := url.Parse(w.URL)
	switch {
	case !secretForm.MatchString(w.Secret):
		return errors.New("webhook.secret must be 1 to 256 of A-Z, a-z, 0-9, _ and -, and hard to guess: openssl rand -hex 32 makes one")
	case err != nil || u.Scheme != "https" || u.Host == "":
		return errors.New("webhook.url must be the https address that Telegram calls, such as https://bot.example.com/hook")
	case w.Listen == "" && w.Listener == nil:
		return errors.New("webhook.listen must be where to listen, such as 127.0.0.1:8443")
	}
	return nil
}

// serveWebhook takes pushes until ctx ends or the token is refused.
func (c *Channel) serveWebhook(ctx context.Context, accept gateway.Accept) error {
	ln := c.webhook.Listener
	if ln == nil {
		var err error
		if ln, err = net.Listen("tcp", c.webhook.Listen); err != nil {
			return fmt.Errorf("webhook: %w: choose another channels.telegram.webhook.listen", err)
		}
	}
	server := &http.Server{
		Handler:           &pushes{c: c, accept: accept, secret: sha256.Sum256([]byte(c.webhook.Secret))},
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(c.log.Handler(), slog.LevelDebug),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("webhook: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookGrace)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // what is not stored comes again
		}
		return nil
	})
	group.Go(func() error { return c.keepHook(ctx) })
	return group.Wait()
}

// pushes is the handler of the webhook. Telegram takes an answer of 200 for an
// acknowledgement, so it is given only for what is stored.
type pushes struct {
	c      *Channel
	accept gateway.Accept
	// secret is a hash, so that comparing tells nothing about its length either.
	secret [sha256.Size]byte
}

func (h *pushes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given := sha256.Sum256([]byte(r.Header.Get(secretHeader)))
	if subtle.ConstantTimeCompare(given[:], h.secret[:]) != 1 {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPush))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	u := peek(h.c.id, 0, body)
	if err != nil || !json.Valid(body) || u.ID == 0 {
		h.c.log.Warn("push is no update", "bytes", len(body))
		http.Error(w, "no update", http.StatusBadRequest)
		return
	}
	if err := h.accept(r.Context(), []gateway.Update{u}); err != nil {
		h.c.report(gateway.StateStale, notStored+err.Error())
		http.Error(w, "not stored", http.StatusInternalServerError)
		return
	}
	h.c.health.polled()
	h.c.health.set(gateway.StateOK, "")
}

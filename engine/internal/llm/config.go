package llm

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// Config is what the client of an endpoint needs, whatever its protocol.
type Config struct {
	// Provider is the configured name of the endpoint. Thinking and the ids
	// of calls go back only to the provider of the same name.
	Provider string
	// BaseURL is the address of the endpoint; empty is the protocol's own.
	BaseURL string
	// APIKey authorises every request; empty sends none.
	APIKey string
	// HTTP does the requests. It must not follow redirects. Required.
	HTTP *http.Client
	// Compat is a JSON object of fields of the protocol's Compat that override
	// what is known of the endpoint; empty overrides nothing.
	Compat json.RawMessage
	// IdleTimeout is the longest silence; 0 is two minutes.
	IdleTimeout time.Duration
	// Log is required. It gets no message texts.
	Log *slog.Logger
}

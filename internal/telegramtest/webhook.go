package telegramtest

import (
	"context"
	"strings"
)

// hook is the webhook. Server.mu guards it.
type hook struct {
	url, secret string
	// failures counts the deliveries that were refused, lastError is why the
	// last one was.
	failures  int
	lastError string
	wake      chan struct{} // holds one; nil while nothing is delivered
	stop      context.CancelFunc
}

const secretRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// setWebhook sets the address, and begins to deliver when the Config says how.
// s.mu is held.
func (s *Server) setWebhook(p params) (any, *apiError) {
	url := p.str("url")
	if url != "" && !strings.HasPrefix(url, "https://") {
		return nil, badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	if strings.Trim(p.str("secret_token"), secretRunes) != "" {
		return nil, badRequest("secret token contains unallowed characters")
	}
	s.endPoll(hookSet)
	s.webhook.end()
	s.webhook = hook{url: url, secret: p.str("secret_token")}
	s.queue.remember(p)
	s.dropPending(p)
	if url != "" && s.config.Hook != nil {
		s.startDelivery()
	}
	return true, nil
}

func (s *Server) deleteWebhook(p params) (any, *apiError) {
	s.webhook.end()
	s.webhook = hook{}
	s.dropPending(p)
	return true, nil
}

func (s *Server) dropPending(p params) {
	if p.flag("drop_pending_updates") {
		s.queue.pending = nil
	}
}

func (s *Server) getWebhookInfo(params) (any, *apiError) {
	return struct {
		URL     string   `json:"url"`
		Custom  bool     `json:"has_custom_certificate"`
		Pending int      `json:"pending_update_count"`
		Error   string   `json:"last_error_message,omitempty"`
		Allowed []string `json:"allowed_updates,omitempty"`
	}{s.webhook.url, false, len(s.queue.pending), s.webhook.lastError, s.queue.allowed}, nil
}

// Webhook is the address of the webhook, and how many deliveries it refused.
func (v State) Webhook() (url string, failures int) {
	return v.s.webhook.url, v.s.webhook.failures
}

// end stops the deliveries.
func (h *hook) end() {
	if h.stop != nil {
		h.stop()
	}
	h.wake, h.stop = nil, nil
}

// knock says that there is something to deliver.
func (h *hook) knock() {
	if h.wake != nil {
		select {
		case h.wake <- struct{}{}:
		default:
		}
	}
}

package telegramtest

import "strings"

// setWebhook remembers the address; nothing is ever sent there. s.mu is held.
func (s *Server) setWebhook(p params) (any, *apiError) {
	url := p.str("url")
	if url != "" && !strings.HasPrefix(url, "https://") {
		return nil, badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	s.endPoll(hookSet)
	s.webhook = url
	s.queue.remember(p)
	s.dropPending(p)
	return true, nil
}

func (s *Server) deleteWebhook(p params) (any, *apiError) {
	s.webhook = ""
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
		Allowed []string `json:"allowed_updates,omitempty"`
	}{s.webhook, false, len(s.queue.pending), s.queue.allowed}, nil
}

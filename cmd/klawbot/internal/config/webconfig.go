package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"klawbot/internal/httpclient"
	"klawbot/tools/web"
)

// WebRequests bounds the tool http_request, and the hosts inside that it and the
// browser may reach.
type WebRequests struct {
	AllowedHosts []string `koanf:"allowed_hosts"`
	MaxBodyBytes int64    `koanf:"maxBodyBytes"`
}

// WebSearch is the server that web_search asks: "searxng", "brave" or "tavily".
type WebSearch struct {
	Backend string `koanf:"backend"`
	URL     string `koanf:"url"`
	APIKey  string `koanf:"apiKey" secret:"true"`
}

// Browser is the Chromium of the tool browser; empty is looked for in PATH.
type Browser struct {
	Path string `koanf:"path"`
}

// insideHosts are hosts, addresses and networks.
func insideHosts(v any) error {
	_, err := httpclient.ParseHosts(v.([]string))
	return err
}

func searchBackend(v any) error {
	if v == "" || slices.Contains(web.Backends(), v.(string)) {
		return nil
	}
	return fmt.Errorf("must be %s, or empty", strings.Join(web.Backends(), " or "))
}

func addressOrNone(v any) error {
	if v == "" {
		return nil
	}
	return CheckAddress(v)
}

// missing says what the backend of the search needs, "" for nothing, and the
// key that it belongs to.
func (s WebSearch) missing() (key string, err error) {
	switch {
	case s.Backend == "searxng" && s.URL == "":
		return "url", errors.New("must be the address of your SearXNG, such as http://127.0.0.1:8888")
	case s.Backend != "" && s.Backend != "searxng" && s.APIKey == "":
		return "apiKey", fmt.Errorf("must be the key of your account at %s", s.Backend)
	}
	return "", nil
}

// AllowedHosts are the hosts inside that tools may reach, as config.yaml has
// them at this moment. While it has a fault, the last good ones are in force,
// and note says so.
func (l *Live) AllowedHosts(log *slog.Logger) (hosts []string, note string) {
	l.refresh(log)
	if l.Broken() != "" {
		note = "config.yaml has a fault; its last good tools.http.allowed_hosts are in force"
	}
	return l.Config().Tools.HTTP.AllowedHosts, note
}

package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"klawbot/gateway/web"
)

// WebSettings is the page as the channel wants it; its caller adds the rest.
func (w *Web) WebSettings() web.Config {
	c := web.Config{
		Listen: w.Listen, SignIn: time.Duration(w.SignInDays) * 24 * time.Hour, MaxUpload: w.MaxUploadBytes,
		Idle: time.Duration(w.Public.Hours) * time.Hour,
	}
	if w.Public.URL != "" {
		c.Public, _ = url.Parse(w.Public.URL) // it was checked
	}
	for _, p := range w.Public.Proxies {
		if network, err := parseNetwork(p); err == nil { // it was checked
			c.Proxies = append(c.Proxies, network)
		}
	}
	return c
}

// check wants a page that others reach to be behind https.
func (w *Web) check() error {
	host, _, err := net.SplitHostPort(w.Listen)
	if !w.Enabled || w.Public.URL != "" {
		return nil
	}
	if err != nil {
		return errors.New("must be an address and a port such as 127.0.0.1:8180")
	}
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("can be reached by other machines; set channels.web.public.url to the https address of your reverse proxy, or listen on 127.0.0.1:8180")
}

func publicAddress(v any) error {
	text := v.(string)
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return errors.New("must be an https address without a path, such as https://bot.example.com")
	}
	return nil
}

func networks(v any) error {
	for _, text := range v.([]string) {
		if _, err := parseNetwork(text); err != nil {
			return fmt.Errorf("%q must be a network such as 127.0.0.1/32", text)
		}
	}
	return nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

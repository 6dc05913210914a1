package telegramtest

import (
	"net/netip"
	"strconv"
	"strings"
)

// What TDLib says about a link that it does not take.
const (
	linkWrong    = "Wrong HTTP URL"
	linkProtocol = "Unsupported URL protocol"
	linkPort     = "Wrong port number specified in the URL"
	linkNoHost   = "URL host is empty"
	linkDot      = "Host is invalid"
	linkHostChar = "Disallowed character in URL host"
	linkPercent  = "Wrong percent-encoded symbol in URL host"
	linkIPv6     = "Wrong IPv6 address specified in the URL"
	linkTelegram = "Unallowed characters in URL host"
)

// checkURL says what is wrong with a link, "" for nothing. It follows TDLib,
// whose answers for the links in its test were recorded: a link without a scheme
// is taken as http, a host needs a dot, and mailto: and tel: are no schemes.
func checkURL(link string) string {
	scheme, rest := ownScheme(link)
	host, fault := parseHost(rest)
	switch {
	case fault != "":
		return fault
	case scheme == "tonsite:":
		return ""
	case scheme != "":
		if strings.ContainsFunc(host, func(r rune) bool { return !alphanumeric(r) && r != '-' && r != '_' }) {
			return linkTelegram
		}
		return ""
	case !strings.Contains(host, ".") && !strings.HasPrefix(host, "["):
		return linkWrong
	}
	return ""
}

// ownScheme takes off the schemes that Telegram handles itself.
func ownScheme(link string) (scheme, rest string) {
	for _, scheme := range []string{"tg:", "ton:", "tonsite:"} {
		if len(link) >= len(scheme) && strings.EqualFold(link[:len(scheme)], scheme) {
			return scheme, strings.TrimPrefix(link[len(scheme):], "//")
		}
	}
	return "", link
}

func parseHost(link string) (host, fault string) {
	if scheme, rest, ok := strings.Cut(link, "://"); ok && !strings.Contains(scheme, ":") {
		switch strings.ToLower(scheme) {
		case "http", "https":
		default:
			return "", linkProtocol
		}
		link = rest
	}
	if end := strings.IndexAny(link, "/?#"); end >= 0 {
		link = link[:end]
	}
	if colon := strings.LastIndexAny(link, ":]@"); colon > 0 && link[colon] == ':' {
		if port, err := strconv.ParseUint(link[colon+1:], 10, 16); err != nil || port == 0 {
			return "", linkPort
		}
		link = link[:colon]
	}
	host = link[strings.LastIndex(link, "@")+1:]
	return host, checkHost(host)
}

func checkHost(host string) string {
	switch {
	case host == "":
		return linkNoHost
	case host == ".":
		return linkDot
	case host[0] == '[' && host[len(host)-1] == ']':
		if ip, err := netip.ParseAddr(host[1 : len(host)-1]); err != nil || !ip.Is6() {
			return linkIPv6
		}
		return ""
	}
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c >= 0x80 || alphanumeric(rune(c)) || strings.IndexByte(".-_!$,~*'();&+=", c) >= 0:
		case c != '%':
			return linkHostChar
		case i+2 >= len(host) || !hexadecimal(host[i+1]) || !hexadecimal(host[i+2]):
			return linkPercent
		}
	}
	return ""
}

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func hexadecimal(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

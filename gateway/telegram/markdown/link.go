package markdown

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// maxLink keeps one address from filling a message's room for entities.
const maxLink = 2048

// linkable says whether Telegram takes the address for a link. It refuses the
// whole message for one that it does not like, so this is the stricter of the
// two. Telegram turns mailto: into a broken web address and refuses tel:; both
// are better as text, where it finds them by itself. An address with a user
// in front of its host is a trick more often than not.
func linkable(s string) bool {
	if len(s) > maxLink || strings.ContainsFunc(s, isNoLinkRune) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return linkableHost(u.Hostname()) && linkablePort(u)
	case "tg":
		return u.Host != "" && !strings.ContainsFunc(u.Host, isNoTelegramHost)
	}
	return false
}

// linkableHost wants a name with a dot, or a numeric address: Telegram knows
// no "localhost".
func linkableHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Zone() == ""
	}
	if len(host) > 253 || strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, "..") {
		return false
	}
	return strings.Contains(host, ".") && !strings.ContainsFunc(host, isNoHostRune)
}

// linkablePort wants a number behind a colon.
func linkablePort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

func isNoHostRune(r rune) bool {
	return r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

func isNoTelegramHost(r rune) bool {
	return r >= 0x80 || r != '-' && !isWordByte(byte(r))
}

func isNoLinkRune(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("<>\"\\^`{|}\uFFFD", r)
}

package exec

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	gitRemoteName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
	// gitSSH is the short form of an address: user@host:path.
	gitSSH = regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?([A-Za-z0-9][A-Za-z0-9.-]*):([^:].*)$`)
)

// gitRemoteAllowed checks the remote of a call: a name that the repository
// knows, or an address in the net.
func gitRemoteAllowed(remote string) error {
	if gitRemoteName.MatchString(remote) && remote != "." && !strings.Contains(remote, "..") {
		return nil
	}
	return gitAddress(remote)
}

// gitAddress checks an address: https, http or ssh, to a host of the open net,
// and no password in it.
func gitAddress(address string) error {
	switch {
	case strings.Contains(address, "::"):
		if !strings.Contains(address, "://[") {
			return gitDenied("git may not use other transports than https, http and ssh")
		}
	case strings.HasPrefix(address, "-"):
		return gitDenied("a remote may not begin with a minus")
	}
	if !strings.Contains(address, "://") {
		m := gitSSH.FindStringSubmatch(address)
		if m == nil || strings.HasPrefix(m[2], "-") {
			return gitDenied("Access denied: the remote is a path; name a remote of the repository, or an https or ssh address")
		}
		return gitHost(m[1])
	}
	u, err := url.Parse(address)
	if err != nil {
		return gitInvalid("the address of the remote cannot be read")
	}
	switch u.Scheme {
	case "https", "http", "ssh":
	default:
		return gitDenied("git may not use other transports than https, http and ssh")
	}
	if _, has := u.User.Password(); has || u.User != nil && u.Scheme != "ssh" {
		return gitDenied("the address holds a credential, which would end up in logs; name a remote of the repository, or set up a credential helper")
	}
	return gitHost(u.Hostname())
}

// gitHost refuses hosts of this machine and of the local net, as far as the name
// says it.
func gitHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(name)
	local := err == nil && (!ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback())
	for _, end := range []string{"localhost", "local", "internal", "lan", "home.arpa"} {
		local = local || name == end || strings.HasSuffix(name, "."+end)
	}
	numeric := name != "" && strings.Trim(name, "0123456789.xabcdef") == "" && err != nil && !strings.ContainsAny(name[len(name)-1:], "abcdef")
	if name == "" || strings.HasPrefix(name, "-") || local || numeric {
		return gitDenied("Access denied: git may not reach " + gitQuote(host) + ", a host of this machine or the local net")
	}
	return nil
}

// gitFolder reports whether the address of a remote is a folder, and where.
func gitFolder(address string) (folder string, ok bool) {
	if rest, is := strings.CutPrefix(address, "file://"); is {
		address = rest
	}
	return address, filepath.IsAbs(address)
}

var gitUserInfo = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^/@\s'"<>]+@`)

// gitMasked is text without the credentials of its addresses.
func gitMasked(text string) string { return gitUserInfo.ReplaceAllString(text, "${1}***@") }

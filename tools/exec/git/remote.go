package git

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	remoteForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
	// sshForm is the short form of an address: user@host:path.
	sshForm = regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?([A-Za-z0-9][A-Za-z0-9.-]*):([^:].*)$`)
)

// remoteAllowed checks the remote of a call: a name that the repository
// knows, or an address in the net.
func remoteAllowed(remote string) error {
	if remoteForm.MatchString(remote) && remote != "." && !strings.Contains(remote, "..") {
		return nil
	}
	return checkAddress(remote)
}

// checkAddress checks an address: https, http or ssh, to a host of the open net,
// and no password in it.
func checkAddress(address string) error {
	switch {
	case strings.Contains(address, "::"):
		if !strings.Contains(address, "://[") {
			return denied("git may not use other transports than https, http and ssh")
		}
	case strings.HasPrefix(address, "-"):
		return denied("a remote may not begin with a minus")
	}
	if !strings.Contains(address, "://") {
		m := sshForm.FindStringSubmatch(address)
		if m == nil || strings.HasPrefix(m[2], "-") {
			return denied("Access denied: the remote is a path; name a remote of the repository, or an https or ssh address")
		}
		return checkHost(m[1])
	}
	u, err := url.Parse(address)
	if err != nil {
		return invalid("the address of the remote cannot be read")
	}
	switch u.Scheme {
	case "https", "http", "ssh":
	default:
		return denied("git may not use other transports than https, http and ssh")
	}
	if _, has := u.User.Password(); has || u.User != nil && u.Scheme != "ssh" {
		return denied("the address holds a credential, which would end up in logs; name a remote of the repository, or set up a credential helper")
	}
	return checkHost(u.Hostname())
}

// checkHost refuses hosts of this machine and of the local net, as far as the name
// says it.
func checkHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(name)
	local := err == nil && (!ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback())
	for _, end := range []string{"localhost", "local", "internal", "lan", "home.arpa"} {
		local = local || name == end || strings.HasSuffix(name, "."+end)
	}
	numeric := name != "" && strings.Trim(name, "0123456789.xabcdef") == "" && err != nil && !strings.ContainsAny(name[len(name)-1:], "abcdef")
	if name == "" || strings.HasPrefix(name, "-") || local || numeric {
		return denied("Access denied: git may not reach " + quote(host) + ", a host of this machine or the local net")
	}
	return nil
}

// folderOf reports whether the address of a remote is a folder, and where.
func folderOf(address string) (folder string, ok bool) {
	if rest, is := strings.CutPrefix(address, "file://"); is {
		address = rest
	}
	return address, filepath.IsAbs(address)
}

var userInfo = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^/@\s'"<>]+@`)

// masked is text without the credentials of its addresses.
func masked(text string) string { return userInfo.ReplaceAllString(text, "${1}***@") }

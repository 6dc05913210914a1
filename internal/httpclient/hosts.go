package httpclient

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Hosts are names, addresses and networks inside, which the owner allows. The
// zero value allows none.
type Hosts struct {
	names    []string
	networks []netip.Prefix
}

// ParseHosts reads a list of host names ("nas.lan"), addresses ("192.168.1.10")
// and networks ("10.1.0.0/16"). A name stands for itself, not for what lies
// below it; what stands for everything is an error.
func ParseHosts(list []string) (Hosts, error) {
	var h Hosts
	for _, entry := range list {
		switch network, err := parseNetwork(entry); {
		case err != nil:
			return Hosts{}, err
		case network.IsValid():
			h.networks = append(h.networks, network)
		default:
			name, err := canonical(entry)
			if err != nil || strings.ContainsAny(entry, "*/:") {
				return Hosts{}, fmt.Errorf("%q is no host: write a name such as nas.lan, an address such as 192.168.1.10 or a network such as 10.1.0.0/16, without a port", entry)
			}
			h.names = append(h.names, name)
		}
	}
	return h, nil
}

// widest is how few bits a network may fix.
const widest = 8

// parseNetwork reads an address or a network; the zero Prefix is neither.
func parseNetwork(entry string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(entry)
	switch {
	case err != nil:
		return netip.Prefix{}, nil
	case network.Bits() < widest:
		return netip.Prefix{}, fmt.Errorf("%q allows too much: a network needs at least /%d", entry, widest)
	}
	return network.Masked(), nil
}

func (h Hosts) named(name string) bool { return slices.Contains(h.names, name) }

// admit refuses a connection to an address that neither is public nor allowed.
// name is the host that led there, "" when it was the address itself.
func (h Hosts) admit(name string, addr netip.Addr) error {
	mapped := addr.Is4In6() && name == ""
	addr = addr.Unmap().WithZone("")
	switch {
	case mapped:
		return denied("IPv4 addresses in the form of IPv6 are refused; write %s", addr)
	case within(addr, h.networks):
	case h.named(name) && intranet(addr):
	case !public(addr):
		shown := addr.String()
		if name != "" && name != shown {
			shown = name + " (" + shown + ")"
		}
		return denied("%s is not on the public internet; the owner can add it to tools.http.allowed_hosts", shown)
	}
	return nil
}

package httpclient

import (
	"net/netip"
	"slices"
)

// special are the networks that are not the public internet, by the registries
// of special addresses and by what clouds and systems make of them. What netip
// calls private, loopback or link-local is a part of it.
var special = prefixes(
	"0.0.0.0/8",         // this network; connects to this machine on Linux
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // shared by carriers, and overlay networks
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // the inside of a cloud
	"169.254.0.0/16",    // link-local, metadata of clouds
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments, metadata of a cloud
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, broadcast
	"::/96",             // unspecified, loopback, IPv4-compatible
	"::ffff:0:0/96",     // IPv4-mapped
	"64:ff9b:1::/48",    // NAT64 inside
	"100::/64",          // discard
	"100:0:0:1::/64",    // dummy
	"2001::/23",         // protocol assignments, Teredo, benchmarks
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"5f00::/16",         // segment routing
	"fc00::/7",          // unique local
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local
	"ff00::/8",          // multicast
)

// nat64 stands for IPv4 addresses on networks that have only IPv6.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// unicast is what IPv6 has given out for the public internet.
var unicast = netip.MustParsePrefix("2000::/3")

// private are the networks that a name of the owner's list may lead to. Metadata
// of clouds and multicast are none of them.
var private = prefixes("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

// metadata are addresses among the private ones that give away keys.
var metadata = prefixes("fd00:ec2::254/128", "100.100.100.200/32")

func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(list))
	for i, p := range list {
		all[i] = netip.MustParsePrefix(p)
	}
	return all
}

func within(addr netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// public reports whether an address is reachable for everybody. It is not
// mapped and has no zone.
func public(addr netip.Addr) bool {
	if nat64.Contains(addr) {
		b := addr.As16()
		return public(netip.AddrFrom4([4]byte(b[12:])))
	}
	if within(addr, special) {
		return false
	}
	return addr.Is4() || unicast.Contains(addr)
}

// intranet reports whether a listed name may lead to an address.
func intranet(addr netip.Addr) bool {
	return within(addr, private) && !within(addr, metadata)
}

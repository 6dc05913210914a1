package httpclient

import (
	"errors"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// The bounds of DNS.
const (
	maxName  = 253
	maxLabel = 63
)

var errHost = errors.New("the URL is not valid: it has no proper host")

// canonical is a host in the one spelling that everybody reads the same way: a
// name in lower case, as DNS has it and without the dot at its end, or an
// address. What resolvers and libraries read in different ways is an error:
// numbers in other spellings (0x7f.1, 2130706433), letters that only look like
// others, zones.
func canonical(host string) (string, error) {
	host = strings.TrimPrefix(strings.TrimSuffix(host, "]"), "[")
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", denied("addresses with a zone are refused")
		}
		return addr.String(), nil
	}
	name, err := ascii(strings.ToLower(host))
	if err != nil {
		return "", err
	}
	if name = strings.TrimSuffix(name, "."); !wellFormed(name) {
		return "", errHost
	}
	if numeric(name) {
		return "", denied("%s is a number that is read in different ways; write it as 192.0.2.1", name)
	}
	return name, nil
}

// ascii is a name as DNS has it. A name with other letters must be spelled as
// DNS would give it back: what turns into something else, such as a circled
// digit, is there to deceive.
func ascii(name string) (string, error) {
	plain := true
	for i := range len(name) {
		plain = plain && name[i] < 0x80
	}
	if plain {
		return name, nil
	}
	encoded, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", errHost
	}
	if back, err := idna.Lookup.ToUnicode(encoded); err != nil || back != name {
		return "", denied("the host is written with look-alike letters; it reads %s", encoded)
	}
	return encoded, nil
}

func wellFormed(name string) bool {
	if len(name) > maxName {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
		}) {
			return false
		}
	}
	return true
}

// numeric reports whether a name ends in a number, so that some read it as an
// address.
func numeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, is := strings.CutPrefix(last, "0x"); is {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

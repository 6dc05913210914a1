package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// Guard keeps clients on the public internet. It looks at an address twice: at
// its text before anything happens (Check), and at the number of every single
// connection, after its name was resolved and before it is made (New with
// Options.Guard). Only the second look counts; a name that answers differently
// the next time gains nothing by it. Nil guards nothing.
type Guard struct {
	// Hosts are what the owner allows beyond the public internet, as ParseHosts
	// returns them. It is asked for every address and every connection. Nil
	// allows nothing more.
	Hosts func() Hosts
}

// ErrDenied is the kind of error of what a Guard refuses.
var ErrDenied = errors.New("access denied")

// denied is an error of the kind ErrDenied, for the model to read.
func denied(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDenied, fmt.Sprintf(format, args...))
}

// maxURL is how long an address may be, in bytes.
const maxURL = 8 << 10

// ErrScheme is the error for what is no address of the web.
var ErrScheme = errors.New("URL must start with http:// or https://")

// Check parses an address and refuses what no honest client asks for: other
// schemes, names and passwords, hosts in an odd spelling, and hosts that are
// inside by their name or number. It does not use the network. A trailing dot
// of the host is taken off.
func (g *Guard) Check(address string) (*url.URL, error) {
	scheme, _, _ := strings.Cut(address, "://")
	if s := strings.ToLower(scheme); s != "http" && s != "https" {
		return nil, ErrScheme
	}
	if len(address) > maxURL {
		return nil, fmt.Errorf("the URL is longer than %d bytes", maxURL)
	}
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return nil, errors.New("the URL holds a blank, a backslash or a control character; write it percent-encoded")
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the URL is not valid: %w", cause(err))
	}
	if u.User != nil {
		return nil, denied("the URL holds a user name; send credentials in a header")
	}
	host, err := g.CheckHost(u.Hostname())
	if err != nil {
		return nil, err
	}
	if u.Host, err = withPort(host, u.Port()); err != nil {
		return nil, err
	}
	return u, nil
}

// cause is what is wrong, without the address in front of it.
func cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// withPort joins a host and a port, which may be empty.
func withPort(host, port string) (string, error) {
	if port == "" {
		if strings.Contains(host, ":") {
			return "[" + host + "]", nil
		}
		return host, nil
	}
	if n, err := net.LookupPort("tcp", port); err != nil || n == 0 {
		return "", fmt.Errorf("the URL is not valid: there is no port %s", port)
	}
	return net.JoinHostPort(host, port), nil
}

// CheckHost refuses a host as Check does and returns its canonical form.
func (g *Guard) CheckHost(host string) (string, error) {
	host, err := canonical(host)
	if err != nil {
		return "", err
	}
	hosts := g.hosts()
	if addr, err := netip.ParseAddr(host); err == nil {
		return host, hosts.admit("", addr)
	}
	if inside(host) && !hosts.named(host) {
		return "", denied("%s is a name of this machine or its network; the owner can add it to tools.http.allowed_hosts", host)
	}
	return host, nil
}

func (g *Guard) hosts() Hosts {
	if g.Hosts == nil {
		return Hosts{}
	}
	return g.Hosts()
}

// inside reports whether a name is only known on this machine or its network.
func inside(name string) bool {
	if !strings.Contains(name, ".") {
		return true
	}
	return slices.ContainsFunc([]string{".localhost", ".localdomain", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".svc"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix)
	})
}

// dial is DialContext of d, which asks about every address that it tries.
func (g *Guard) dial(d net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	next := d.ControlContext
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if host, err = g.CheckHost(host); err != nil {
			return nil, err
		}
		d := d
		d.ControlContext = func(ctx context.Context, network, number string, c syscall.RawConn) error {
			if err := g.control(host, number); err != nil {
				return err
			}
			if next != nil {
				return next(ctx, network, number, c)
			}
			return nil
		}
		return d.DialContext(ctx, network, address)
	}
}

// control decides about one connection: number is the address that the kernel
// is about to be asked for, host the name that led there.
func (g *Guard) control(host, number string) error {
	at, err := netip.ParseAddrPort(number)
	if err != nil {
		return denied("%s is no address", number)
	}
	return g.hosts().admit(host, at.Addr())
}

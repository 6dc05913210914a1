package httpclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"klawbot/internal/dnstest"
	"klawbot/internal/httpclient"
)

// line is one of the corpus of addresses.
type line struct {
	ID, URL, Expect string
	AllowedHosts    []string `json:"allowed_hosts"`
	Doubtful        bool
	Resolves        map[string][]string
	ResolvesSeq     map[string][][]string `json:"resolves_seq"`
	MustNotConnect  []string              `json:"must_not_connect"`
	MaxRequests     int                   `json:"max_requests"`
	Responds        struct {
		Status   int
		Location string
	}
	Env map[string]string
}

// namesOf are the names of a line, for its resolver.
func namesOf(l line) dnstest.Names {
	names := dnstest.Names{}
	for name, addrs := range l.Resolves {
		names[strings.ToLower(strings.TrimSuffix(name, "."))] = [][]string{addrs}
	}
	for name, seq := range l.ResolvesSeq {
		names[strings.ToLower(name)] = seq
	}
	return names
}

// errReached ends a connection that the guard let through.
var errReached = errors.New("the kernel would connect")

// trace notes which addresses the kernel would have been asked for.
type trace struct {
	mu   sync.Mutex
	seen []string
}

func (r *trace) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, netip.MustParseAddrPort(address).Addr().Unmap().String())
	return errReached
}

// fetch is what a tool does with an address.
func fetch(ctx context.Context, g *httpclient.Guard, client *http.Client, address string) (*http.Response, error) {
	u, err := g.Check(address)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

func lines(t *testing.T) []line {
	t.Helper()
	f, err := os.Open("testdata/urls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []line
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func allowing(t *testing.T, list []string) *httpclient.Guard {
	t.Helper()
	hosts, err := httpclient.ParseHosts(list)
	if err != nil && !slices.Contains(list, "*") {
		t.Fatal(err)
	}
	return &httpclient.Guard{Hosts: func() httpclient.Hosts { return hosts }}
}

// TestURLs goes through the corpus: what is denied is never asked of the kernel.
func TestURLs(t *testing.T) {
	firm, doubtful := 0, 0
	for _, l := range lines(t) {
		t.Run(l.ID, func(t *testing.T) {
			for name, value := range l.Env {
				t.Setenv(name, value)
			}
			var r trace
			g := allowing(t, l.AllowedHosts)
			client := httpclient.New(httpclient.Options{Guard: g, Control: r.control, Resolver: dnstest.Resolver(namesOf(l))})
			resp, err := fetch(t.Context(), g, client, l.URL)
			if err == nil {
				resp.Body.Close()
				t.Fatal("a connection was made")
			}
			got := "deny"
			if errors.Is(err, errReached) {
				got = "allow"
			}
			want := l.Expect
			if want == "no_follow" {
				want = "allow"
			}
			for _, bad := range l.MustNotConnect {
				if slices.Contains(r.seen, bad) {
					t.Errorf("%q: the kernel was asked for %s", l.URL, bad)
				}
			}
			switch {
			case want == "either" || got == want:
			case l.Doubtful:
				t.Logf("doubtful %.80q: %s, the corpus says %s (%v)", l.URL, got, want, err)
			default:
				t.Errorf("%.80q: %s, want %s: %v", l.URL, got, want, err)
			}
			if got == "deny" && len(r.seen) > 0 {
				t.Errorf("%q: the kernel was asked for %q", l.URL, r.seen)
			}
		})
		if l.Doubtful {
			doubtful++
		} else {
			firm++
		}
	}
	t.Logf("%d firm lines, %d doubtful", firm, doubtful)
	if firm < 130 {
		t.Errorf("only %d firm lines", firm)
	}
}

// TestRedirectsAreNotFollowed answers with the redirects of the corpus.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, l := range lines(t) {
		if l.Expect != "no_follow" {
			continue
		}
		requests := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests++
			w.Header().Set("Location", l.Responds.Location)
			w.WriteHeader(l.Responds.Status)
		}))
		g := allowing(t, []string{"127.0.0.1"})
		resp, err := fetch(t.Context(), g, httpclient.New(httpclient.Options{Guard: g}), s.URL)
		s.Close()
		if err != nil {
			t.Errorf("%s: %v", l.ID, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != l.Responds.Status || resp.Header.Get("Location") != l.Responds.Location || requests > l.MaxRequests {
			t.Errorf("%s: status %d, Location %q, %d requests", l.ID, resp.StatusCode, resp.Header.Get("Location"), requests)
		}
	}
}

// TestRebinding asks for a name a thousand times that answers now with a public
// address and now with one inside.
func TestRebinding(t *testing.T) {
	const flips = 1000
	var answers [][]string
	for range flips {
		answers = append(answers, []string{"93.184.216.34"}, []string{"127.0.0.1"}, []string{"93.184.216.34", "169.254.169.254"}, []string{"::1"})
	}
	var r trace
	g := allowing(t, nil)
	client := httpclient.New(httpclient.Options{Guard: g, Control: r.control, Resolver: dnstest.Resolver(dnstest.Names{"rebind.example": answers})})
	reached, refused := 0, 0
	for range flips {
		resp, err := fetch(t.Context(), g, client, "http://rebind.example/")
		switch {
		case err == nil:
			resp.Body.Close()
			t.Fatal("a connection was made")
		case errors.Is(err, errReached):
			reached++
		case errors.Is(err, httpclient.ErrDenied):
			refused++
		}
	}
	for _, addr := range r.seen {
		if addr != "93.184.216.34" {
			t.Fatalf("the kernel was asked for %s", addr)
		}
	}
	if reached < flips/4 || refused < flips/4 {
		t.Errorf("%d reached, %d refused", reached, refused)
	}
}

// TestHostsAreReadForEveryConnection takes a host off the list between two
// requests; an idle connection must not outlive that.
func TestHostsAreReadForEveryConnection(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	defer s.Close()
	var list httpclient.Hosts
	g := &httpclient.Guard{Hosts: func() httpclient.Hosts { return list }}
	client := httpclient.New(httpclient.Options{Guard: g})
	for i, allowed := range []bool{false, true, false, true} {
		list = httpclient.Hosts{}
		if allowed {
			var err error
			if list, err = httpclient.ParseHosts([]string{"127.0.0.0/8"}); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := client.Get(s.URL)
		if (err == nil) != allowed || err != nil && !errors.Is(err, httpclient.ErrDenied) {
			t.Errorf("request %d, allowed %v: %v", i, allowed, err)
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
}

func TestParseHosts(t *testing.T) {
	for _, wrong := range []string{"*", "*.lan", "", "0.0.0.0/0", "::/0", "http://nas.lan", "nas.lan:80", "0x7f.1", "a b", "10.0.0.0/7"} {
		if _, err := httpclient.ParseHosts([]string{wrong}); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
	if _, err := httpclient.ParseHosts([]string{"NAS.lan", "nas.lan.", "10.1.2.3", "fd00::1", "[fd00::1]", "10.1.0.0/16", "fd00::/8", "localhost"}); err != nil {
		t.Error(err)
	}
}

// TestLookAlikes: a name that is read as another one is refused, one in its own
// letters is not.
func TestLookAlikes(t *testing.T) {
	g := &httpclient.Guard{}
	for _, host := range []string{"ｅxample.com", "ⓔxample.com", "example。com", "ﬁle.example.com", "①②⑦.⓪.⓪.①"} {
		if _, err := g.CheckHost(host); !errors.Is(err, httpclient.ErrDenied) || !strings.Contains(err.Error(), "look-alike letters") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if host, err := g.CheckHost("BÜCHER.example"); err != nil || host != "xn--bcher-kva.example" {
		t.Errorf("%s, %v", host, err)
	}
}

// TestNumbersInOddSpellings are refused by their text, since resolvers do not
// agree on what they are.
func TestNumbersInOddSpellings(t *testing.T) {
	g := &httpclient.Guard{}
	for _, host := range []string{"0x7f.1", "127.1", "0177.0.0.1", "example.0x1", "1.2.3.4.5", "8.8.8.08"} {
		if _, err := g.CheckHost(host); !errors.Is(err, httpclient.ErrDenied) || !strings.Contains(err.Error(), "read in different ways") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestSpecialAddresses looks at both ends of every special network.
func TestSpecialAddresses(t *testing.T) {
	g := allowing(t, nil)
	for addr, open := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "64:ff9b::808:808": true,
		"168.63.129.16": false, "255.255.255.255": false, "100.64.0.0": false, "100.127.255.255": false, "100.128.0.0": true,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2001:1ff::1": false, "2001:200::1": true, "4000::1": false, "::ffff:8.8.8.8": false,
		"fd00:ec2::254": false, "ff02::1": false,
	} {
		_, err := g.CheckHost(addr)
		if (err == nil) != open {
			t.Errorf("%s: %v", addr, err)
		}
	}
	// A listed name may lead inside, but never to the metadata of a cloud.
	for addr, open := range map[string]bool{"192.168.1.20": true, "127.0.0.1": true, "169.254.169.254": false, "fd00:ec2::254": false, "100.100.100.200": false, "224.0.0.1": false} {
		var r trace
		g := allowing(t, []string{"nas.lan"})
		client := httpclient.New(httpclient.Options{Guard: g, Control: r.control, Resolver: dnstest.Resolver(dnstest.Names{"nas.lan": {{addr}}})})
		_, err := fetch(t.Context(), g, client, "http://nas.lan/")
		if errors.Is(err, errReached) != open {
			t.Errorf("nas.lan at %s: %v", addr, err)
		}
	}
}

// FuzzCheck wants an address that passes to have one meaning: what it is parsed
// to is checked again with the same outcome, and no spelling leads inside.
func FuzzCheck(f *testing.F) {
	file, err := os.ReadFile("testdata/urls.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for text := range strings.Lines(string(file)) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil {
			f.Add(l.URL)
		}
	}
	g := &httpclient.Guard{}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := g.Check(address)
		if err != nil {
			return
		}
		if u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			t.Fatalf("%q passed as %q", address, u)
		}
		again, err := g.Check(u.String())
		if err != nil || again.Host != u.Host {
			t.Fatalf("%q is %q, and that is %v, %v", address, u, again, err)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()) {
			t.Fatalf("%q leads to %s", address, addr)
		}
	})
}

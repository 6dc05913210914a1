// Package dnstest answers for DNS in tests, also with another address each time
// that a name is asked for.
package dnstest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Names are the addresses of each name: one list for each lookup, the last one
// stays. A name that is not there does not exist. Names are in small letters, with
// no dot at the end.
type Names map[string][][]string

// Resolver answers with names, over a stream, as a server does for the resolver of
// Go. An address that is none is a panic.
func Resolver(names Names) *net.Resolver {
	s := &server{names: names, asked: map[string]int{}}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go s.serve(theirs)
		return ours, nil
	}}
}

type server struct {
	names Names

	mu    sync.Mutex
	asked map[string]int // guarded by mu
}

// serve answers the questions of one connection until the other end goes.
func (s *server) serve(c net.Conn) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		question := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(question) != nil || len(m.Questions) != 1 {
			return
		}
		s.answer(&m)
		reply, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := c.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

// answer makes a question its answer.
func (s *server) answer(m *dnsmessage.Message) {
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	addresses, known := s.lookup(strings.ToLower(strings.TrimSuffix(q.Name.String(), ".")), q.Type)
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
}

// lookup counts a question for A as one lookup.
func (s *server) lookup(name string, kind dnsmessage.Type) (all []netip.Addr, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lists := s.names[name]
	if len(lists) == 0 {
		return nil, false
	}
	at := min(s.asked[name], len(lists)-1)
	if kind == dnsmessage.TypeA {
		s.asked[name]++
	}
	for _, text := range lists[at] {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, true
}

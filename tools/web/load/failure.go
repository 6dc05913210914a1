// Package load tells the web tools about a load: its progress, sizes and errors.
package load

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"

	"klawbot/internal/httpclient"
	"klawbot/tools"
)

// MaxText is the longest text of a web page for a model, in bytes.
const MaxText = 200_000

// Refused is the result for an invalid or denied address. note is about the owner's list
// of hosts, or "".
func Refused(err error, note string) *tools.Result {
	kind := tools.Validation
	text := err.Error()
	if errors.Is(err, httpclient.ErrDenied) {
		kind = tools.Security
		text = "Access denied" + strings.TrimPrefix(text[strings.Index(text, httpclient.ErrDenied.Error()):], httpclient.ErrDenied.Error())
	}
	if note != "" {
		text += "; " + note
	}
	return tools.Refused(kind, text)
}

// Noted adds a note to a result, unless it is "".
func Noted(r tools.Result, note string) tools.Result {
	if note != "" {
		r.Output += "\n(" + note + ")"
	}
	return r
}

// Explain is the error of a connection in words, without our addresses.
func Explain(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "there is no such host"
		}
		return "its name could not be looked up"
	}
	switch _, tlsBroken := errors.AsType[tls.RecordHeaderError](err); {
	case tlsBroken:
		return "it does not speak https there"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "it cannot be reached from here"
	case errors.Is(err, context.Canceled):
		return "the call was stopped"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended early"
	case errors.Is(err, io.EOF):
		return "it closed the connection without an answer"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it broke the connection off"
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted: " + e.Err.Error()
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is not trusted"
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "it took too long"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err // the rest of it are addresses
	}
	return improper(err.Error())
}

// improper is an error of net/http about what a server sent.
func improper(text string) string {
	const long, broken = "server response headers exceeded ", "transport connection broken: "
	if strings.Contains(text, long) {
		return "the head of its answer is longer than " + Size(httpclient.MaxHeader)
	}
	_, what, found := strings.Cut(text, broken)
	text = fmt.Sprintf("%.200s", strings.TrimPrefix(cmp.Or(what, text), "net/http: "))
	if found {
		return "it did not send valid HTTP (" + text + ")"
	}
	return text
}

// Line is a text on one line.
func Line(text string) string { return strings.Join(strings.Fields(text), " ") }

// Size is a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

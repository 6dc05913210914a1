package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// faultError is an error of a connection in words for people, with the library's behind it.
type faultError struct {
	text string
	err  error
}

func (e faultError) Error() string { return e.text }
func (e faultError) Unwrap() error { return e.err }

// unreadable are words of the library about messages that are none.
var unreadable = []string{"json", "unmarshal", "base64", "content type"}

// plain says what went wrong with a connection. What the server says stays as it is.
func plain(err error) error {
	about := func(word string) bool { return strings.Contains(strings.ToLower(err.Error()), word) }
	switch {
	case errors.As(err, new(*jsonrpc.Error)), errors.As(err, new(downError)):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return faultError{"it did not answer in time", err}
	case errors.Is(err, io.EOF), errors.Is(err, sdk.ErrConnectionClosed):
		return faultError{"it ended the connection", err}
	case about("maximum line length"):
		return faultError{fmt.Sprintf("it sent a message of more than %d MiB", maxMessage>>20), err}
	}
	for _, word := range unreadable {
		if about(word) {
			return faultError{"it sent something that the protocol does not allow", err}
		}
	}
	return err
}

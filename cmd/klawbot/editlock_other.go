//go:build !unix

package main

// lockFolder does nothing here: folders cannot be locked.
func lockFolder(string) (unlock func() error, err error) {
	return func() error { return nil }, nil
}

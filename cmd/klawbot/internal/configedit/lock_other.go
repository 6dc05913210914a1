//go:build !unix

package configedit

// lock does nothing here: files cannot be locked like this.
func lock(string) (unlock func() error, err error) {
	return func() error { return nil }, nil
}

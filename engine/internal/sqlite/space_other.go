//go:build !unix

package sqlite

import "math"

// FreeSpace does not know the space on this system and does not object.
func FreeSpace(string) (uint64, error) { return math.MaxInt64, nil }

//go:build !soak

package screen

// longText is how long a text of the tests is, in bytes; make bombs takes longer ones.
const longText = 5 << 18

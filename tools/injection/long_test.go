//go:build !soak

package injection

// longText is how long a text of the tests is, in bytes; make bombs takes longer ones.
const longText = 5 << 18

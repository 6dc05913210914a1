//go:build !soak

package page

// scale is how many times smaller most large pages of the tests are than those of
// make bombs.
const scale = 25

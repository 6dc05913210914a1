//go:build soak

package injection

const longText = 5 << 20

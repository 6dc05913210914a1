//go:build soak

package screen

const longText = 5 << 20

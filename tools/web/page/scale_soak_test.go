//go:build soak

package page

const scale = 1

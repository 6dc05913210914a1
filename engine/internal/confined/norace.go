//go:build !race

package confined

const raceEnabled = false

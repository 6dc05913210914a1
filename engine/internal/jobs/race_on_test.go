//go:build race

package jobs_test

// raceEnabled says that everything takes ten times as long.
const raceEnabled = true

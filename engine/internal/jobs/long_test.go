//go:build long

package jobs_test

import "testing"

func TestLongDaysOfRestarts(t *testing.T) { daysOfRestarts(t, 30) }

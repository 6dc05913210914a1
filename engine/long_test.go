//go:build long

package engine_test

import "testing"

func TestLongBurstLosesNothingAndKeepsOrder(t *testing.T) { burstLosesNothingAndKeepsOrder(t, 50) }

func TestLongManyTurns(t *testing.T) { manyTurns(t, 500) }

func TestLongTapsFromThreeChannelsDecideOnce(t *testing.T) { tapsFromThreeChannels(t, 10_000) }

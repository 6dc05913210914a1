package memory

import (
	"slices"
	"testing"

	"klawbot/engine/internal/store"
)

// A vector that is nearer than others is among the nearest, however many older
// ones differ alike.
func TestNearestAmongManyAlike(t *testing.T) {
	s := newSigns(64)
	for i := range 1000 {
		s.add(store.Bits{ID: int64(i + 1), Chunk: store.ChunkID(i + 1), Bits: []byte{0b11}})
	}
	s.add(store.Bits{ID: 1001, Chunk: 1001, Bits: []byte{0b1}})
	near := s.differLeast([]uint64{0}, 400, func(chat) bool { return true }, nil)
	if len(near) > 400 {
		t.Errorf("%d are near, more than 400", len(near))
	}
	if !slices.Contains(near, 1000) {
		t.Error("the nearest is not among the nearest")
	}
}

// Of those whose signs differ alike, those are nearest whose signs are the query's
// where it has its largest numbers.
func TestNearestByTheNumbersOfTheQuery(t *testing.T) {
	query := make([]float32, 64)
	for i := range query {
		query[i] = 0.01
	}
	query[9] = 0.9
	s := newSigns(64)
	for i := range 64 {
		bits := []byte{255, 255, 255, 255, 255, 255, 255, 255}
		bits[i/8] &^= 1 << (i % 8) // only the i-th number is below zero
		s.add(store.Bits{ID: int64(i + 1), Chunk: store.ChunkID(i + 1), Bits: bits})
	}
	everybody := func(chat) bool { return true }
	near := s.nearest(query, 63, everybody, nil)
	if len(near) != 63 {
		t.Fatalf("%d are near, not 63", len(near))
	}
	for _, n := range near {
		if n.chunk == 10 {
			t.Error("the farthest is among the nearest")
		}
	}
}

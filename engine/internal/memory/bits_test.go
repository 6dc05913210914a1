package memory

import (
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
	near := s.nearest([]uint64{0}, 400, func(chat) bool { return true }, nil)
	if len(near) > 400 {
		t.Errorf("%d are near, more than 400", len(near))
	}
	for _, n := range near {
		if n.chunk == 1001 {
			return
		}
	}
	t.Error("the nearest is not among the nearest")
}

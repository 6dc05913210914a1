package memory

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"klawbot/engine/internal/store"
)

// signs is the first pass of the vector search: of each vector it knows the
// signs of the numbers, 48 bytes where the vector has 1,536, and how many differ
// from those of a query tells well enough which vectors are worth a look.
type signs struct {
	words  int // of 64 bits a vector
	last   int64
	chunks []store.ChunkID
	ids    []int64 // of the rows of each chunk's vector
	places []int32 // the place of each chunk in chats
	vector []uint64
	chats  []chat
	known  map[chat]int32
}

// chat is whose chunk it is; the zero value is everybody's.
type chat struct {
	channel string
	id      int64
}

func newSigns(dimensions int) *signs {
	return &signs{words: (dimensions + 63) / 64, known: map[chat]int32{}}
}

func (s *signs) add(b store.Bits) {
	c := chat{b.Channel, b.Chat}
	place, ok := s.known[c]
	if !ok {
		place = int32(len(s.chats))
		s.chats, s.known[c] = append(s.chats, c), place
	}
	s.last = b.ID
	s.chunks, s.ids, s.places = append(s.chunks, b.Chunk), append(s.ids, b.ID), append(s.places, place)
	s.vector = append(s.vector, packed(b.Bits, s.words)...)
}

// drop removes chunks.
func (s *signs) drop(gone map[store.ChunkID]bool) {
	kept := 0
	for i, chunk := range s.chunks {
		if gone[chunk] {
			continue
		}
		s.chunks[kept], s.ids[kept], s.places[kept] = chunk, s.ids[i], s.places[i]
		copy(s.vector[kept*s.words:], s.vector[i*s.words:(i+1)*s.words])
		kept++
	}
	s.chunks, s.ids, s.places, s.vector = s.chunks[:kept], s.ids[:kept], s.places[:kept], s.vector[:kept*s.words]
}

// packed is a string of bits as words.
func packed(raw []byte, words int) []uint64 {
	padded := make([]byte, 8*words)
	copy(padded, raw)
	all := make([]uint64, words)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(padded[8*i:])
	}
	return all
}

// sign is a chunk that signs know: with the row of its vector.
type sign struct {
	chunk store.ChunkID
	row   int64
}

// nearest are the chunks whose signs differ least from those of a query, among
// those that open and allow let pass: at most limit, of those that differ alike at
// the border the newest.
func (s *signs) nearest(query []uint64, limit int, open func(chat) bool, allow func(store.ChunkID) bool) []sign {
	readable := make([]bool, len(s.chats))
	for i, c := range s.chats {
		readable[i] = open(c)
	}
	const far = 1<<16 - 1
	distances := make([]uint16, len(s.chunks))
	histogram := make([]int, 64*s.words+1)
	for i := range s.chunks {
		if !readable[s.places[i]] || allow != nil && !allow(s.chunks[i]) {
			distances[i] = far
			continue
		}
		d := 0
		for k, w := range s.vector[i*s.words : (i+1)*s.words] {
			d += bits.OnesCount64(w ^ query[k])
		}
		distances[i] = uint16(d)
		histogram[d]++
	}
	border, taken := 0, 0
	for ; border < len(histogram)-1 && taken+histogram[border] < limit; border++ {
		taken += histogram[border]
	}
	var near []sign
	alike := limit - taken // how many of the border there is room for
	for i, d := range slices.Backward(distances) {
		if int(d) > border || int(d) == border && alike == 0 {
			continue
		}
		if int(d) == border {
			alike--
		}
		near = append(near, sign{s.chunks[i], s.ids[i]})
	}
	return near
}

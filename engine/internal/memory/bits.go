package memory

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/vectors"
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

// through are the signs up to those of a row, which is the last one that a transaction
// sees. Another one that began later may have read more.
func (s *signs) through(last int64) *signs {
	n, _ := slices.BinarySearch(s.ids, last+1)
	seen := *s
	seen.chunks = s.chunks[:n]
	return &seen
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

// alike are how many of a search's limit are weighed more closely: signs that differ
// little are quick to find among many, and tell less than the query's own numbers.
const alike = 6

// nearest are the chunks that lie nearest to a query as far as signs can tell, among
// those that open and allow let pass: at most limit, the nearest first. Those whose
// signs differ least from the query's are weighed by its numbers, each added with the
// sign that it has in the chunk ("asymmetric distance": Gordo, Perronnin et al.,
// Asymmetric Distances for Binary Embeddings, 2011).
func (s *signs) nearest(query []float32, limit int, open func(chat) bool, allow func(store.ChunkID) bool) []sign {
	places := s.differLeast(packed(vectors.Signs(query), s.words), alike*limit, open, allow)
	w := newWeights(query, s.words)
	type weighed struct {
		place  int
		weight float32
	}
	all := make([]weighed, len(places))
	for i, p := range places {
		all[i] = weighed{p, w.of(s.vector[p*s.words : (p+1)*s.words])}
	}
	slices.SortFunc(all, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	all = all[:min(len(all), limit)]
	near := make([]sign, len(all))
	for i, c := range all {
		near[i] = sign{s.chunks[c.place], s.ids[c.place]}
	}
	return near
}

// weights are what each byte of a vector's signs adds to its weight: the numbers of
// the query whose bits it has.
type weights [][256]float32

func newWeights(query []float32, words int) weights {
	w := make(weights, 8*words)
	for i, x := range query {
		bit := 1 << (i % 8)
		for b := range 256 {
			if b&bit != 0 {
				w[i/8][b] += x
			}
		}
	}
	return w
}

// of is the sum of the query's numbers where a vector is above zero.
func (w weights) of(vector []uint64) (sum float32) {
	for i, word := range vector {
		for k := range 8 {
			sum += w[8*i+k][byte(word>>(8*k))]
		}
	}
	return sum
}

// differLeast are the places of the vectors whose signs differ least from those of a
// query, among those that open and allow let pass: at most limit, of those that
// differ alike at the border the newest.
func (s *signs) differLeast(query []uint64, limit int, open func(chat) bool, allow func(store.ChunkID) bool) []int {
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
		vector := s.vector[i*s.words:][:len(query)] // without a check of bounds for each word
		for k, w := range query {
			d += bits.OnesCount64(w ^ vector[k])
		}
		distances[i] = uint16(d)
		histogram[d]++
	}
	border, taken := 0, 0
	for ; border < len(histogram)-1 && taken+histogram[border] < limit; border++ {
		taken += histogram[border]
	}
	room := limit - taken // for those at the border
	least := make([]int, 0, min(limit, len(s.chunks)))
	for i, d := range slices.Backward(distances) {
		switch {
		case int(d) > border || int(d) == border && room == 0:
			continue
		case int(d) == border:
			room--
		}
		least = append(least, i)
	}
	return least
}

package localmodel

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// errNotGGUF says that a file has another format.
var errNotGGUF = errors.New("is no GGUF file")

// CheckWeights says whether a file is a whole GGUF file, by its head, which says where each
// tensor is.
func CheckWeights(file string) error {
	f, err := os.Open(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return missing(file)
		}
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	has := info.Size()
	needs, err := (&gguf{in: bufio.NewReaderSize(f, 64<<10), left: has}).size()
	switch {
	case errors.Is(err, errNotGGUF):
		return fmt.Errorf("%s %w", file, err)
	case errors.Is(err, io.ErrUnexpectedEOF): // in the head
		return fmt.Errorf("%s is no whole GGUF file (%d bytes); pull it again", file, has)
	case err != nil:
		return fmt.Errorf("read %s: %w", file, err)
	case has < needs:
		return fmt.Errorf("%s is no whole GGUF file (%d of %d bytes); pull it again", file, has, needs)
	}
	return nil
}

// missing says how to get weights that are not there. Those that were pulled have the name
// of their model as a folder.
func missing(file string) error {
	if name := filepath.Base(filepath.Dir(file)); filepath.Base(file) == pulledWeights {
		return fmt.Errorf("model %q is not here; get it with: klawbot assets pull --llm %s", name, name)
	}
	return fmt.Errorf("%s is not here; get a model with: klawbot assets pull --llm NAME", file)
}

// gguf reads the head of a GGUF file; see docs/gguf.md of ggml.
type gguf struct {
	in *bufio.Reader
	// at is the place in the file, left how much of it is behind.
	at, left int64
}

// The types of values in the head that are read or skipped in another way than by their
// size.
const (
	ggufU32    = 4
	ggufString = 8
	ggufArray  = 9
)

// ggufSizes are the sizes of the other types, in bytes.
var ggufSizes = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// tensorSizes are, by type, how many values a block of a tensor has and how many bytes it
// takes. A type that is not here counts as nothing.
var tensorSizes = map[uint32][2]int64{
	0: {1, 4}, 1: {1, 2}, 2: {32, 18}, 3: {32, 20}, 6: {32, 22}, 7: {32, 24}, 8: {32, 34}, 9: {32, 36},
	10: {256, 84}, 11: {256, 110}, 12: {256, 144}, 13: {256, 176}, 14: {256, 210}, 15: {256, 292},
	16: {256, 66}, 17: {256, 74}, 18: {256, 98}, 19: {256, 50}, 20: {32, 18}, 21: {256, 110}, 22: {256, 82}, 23: {256, 136},
	24: {1, 1}, 25: {1, 2}, 26: {1, 4}, 27: {1, 8}, 28: {1, 8}, 29: {256, 56}, 30: {1, 2}, 34: {256, 54}, 35: {256, 66}, 39: {32, 17},
}

// size is how many bytes the file has at least, when it is whole.
func (g *gguf) size() (needs int64, err error) {
	var head struct {
		Magic         [4]byte
		Version       uint32
		Tensors, Keys uint64
	}
	if err := g.read(&head); err != nil || string(head.Magic[:]) != "GGUF" {
		return 0, errNotGGUF
	}
	if head.Version < 2 || head.Version > 3 { // of the others, the beginning is all that is known
		return 0, nil
	}
	align := int64(32)
	for range head.Keys {
		key, err := g.text()
		if err != nil {
			return 0, err
		}
		if err := g.value(key, &align); err != nil {
			return 0, err
		}
	}
	var end int64
	for range head.Tensors {
		last, err := g.tensor()
		if err != nil {
			return 0, err
		}
		end = max(end, last)
	}
	if end == 0 {
		return g.at, nil
	}
	return (g.at+align-1)/align*align + end, nil
}

// value skips the value of a key, but for that of the alignment.
func (g *gguf) value(key string, align *int64) error {
	var kind uint32
	if err := g.read(&kind); err != nil {
		return err
	}
	if key == "general.alignment" && kind == ggufU32 {
		var n uint32
		err := g.read(&n)
		*align = max(int64(n), 1)
		return err
	}
	return g.skipValues(kind, 1, 0)
}

// skipValues skips values of one type. depth bounds arrays of arrays.
func (g *gguf) skipValues(kind uint32, n uint64, depth int) error {
	if size, ok := ggufSizes[kind]; ok {
		if n > uint64(g.left)/uint64(size) {
			return io.ErrUnexpectedEOF
		}
		return g.skip(int64(n) * size)
	}
	if kind != ggufString && kind != ggufArray || depth > 4 {
		return fmt.Errorf("the value type %d is unknown", kind)
	}
	for range n {
		if kind == ggufString {
			if _, err := g.text(); err != nil {
				return err
			}
			continue
		}
		var of struct {
			Kind uint32
			N    uint64
		}
		if err := g.read(&of); err != nil {
			return err
		}
		if err := g.skipValues(of.Kind, of.N, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// tensor reads about one tensor, and returns where it ends, behind the head.
func (g *gguf) tensor() (end int64, err error) {
	if _, err := g.text(); err != nil {
		return 0, err
	}
	var dims uint32
	if err := g.read(&dims); err != nil {
		return 0, err
	}
	const mostDims, mostValues = 8, 1 << 50
	if dims > mostDims {
		return 0, fmt.Errorf("a tensor has %d dimensions", dims)
	}
	values := int64(1)
	for range dims {
		var n uint64
		if err := g.read(&n); err != nil {
			return 0, err
		}
		if n > uint64(mostValues/max(values, 1)) {
			return 0, errors.New("a tensor is too large")
		}
		values *= int64(n)
	}
	var where struct {
		Kind   uint32
		Offset uint64
	}
	if err := g.read(&where); err != nil {
		return 0, err
	}
	if where.Offset > mostValues {
		return 0, errors.New("a tensor is too far behind")
	}
	block := tensorSizes[where.Kind]
	if block[0] == 0 {
		return int64(where.Offset), nil
	}
	return int64(where.Offset) + values/block[0]*block[1], nil
}

// text reads a text; of a long one only the beginning is kept.
func (g *gguf) text() (string, error) {
	var n uint64
	if err := g.read(&n); err != nil {
		return "", err
	}
	if n > uint64(g.left) {
		return "", io.ErrUnexpectedEOF
	}
	kept := make([]byte, min(n, 64))
	if err := g.read(kept); err != nil {
		return "", err
	}
	return string(kept), g.skip(int64(n) - int64(len(kept)))
}

func (g *gguf) read(into any) error {
	n := int64(binary.Size(into))
	if n > g.left {
		return io.ErrUnexpectedEOF
	}
	g.at, g.left = g.at+n, g.left-n
	return binary.Read(g.in, binary.LittleEndian, into)
}

func (g *gguf) skip(n int64) error {
	if n > g.left {
		return io.ErrUnexpectedEOF
	}
	g.at, g.left = g.at+n, g.left-n
	for n > 0 {
		step := min(n, 1<<30)
		if _, err := g.in.Discard(int(step)); err != nil {
			return err
		}
		n -= step
	}
	return nil
}

// Package vectors writes vectors as bytes, exactly, coarsely or as signs, and reads them.
package vectors

import (
	"encoding/binary"
	"math"
)

// Dot is the dot product of a vector and one as Coarse wrote it.
func Dot(body []byte, vector []float32) float64 {
	step := math.Float32frombits(binary.LittleEndian.Uint32(body))
	var sum float32
	for i, b := range body[4:] {
		sum += float32(int8(b)) * vector[i]
	}
	return float64(step * sum)
}

// Coarse is a vector with a byte for each number, behind the size of a step.
func Coarse(vector []float32) []byte {
	var most float32
	for _, x := range vector {
		most = max(most, x, -x)
	}
	step := most / 127
	body := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(vector)), math.Float32bits(step))
	for _, x := range vector {
		if step > 0 {
			x /= step
		}
		body = append(body, byte(int8(math.Round(float64(x)))))
	}
	return body
}

// FromCoarse is about the vector that Coarse wrote.
func FromCoarse(body []byte) []float32 {
	step := math.Float32frombits(binary.LittleEndian.Uint32(body))
	vector := make([]float32, len(body)-4)
	for i, b := range body[4:] {
		vector[i] = step * float32(int8(b))
	}
	return vector
}

// Signs are the signs of the numbers of a vector, a bit each, 1 for above zero.
func Signs(vector []float32) []byte {
	bits := make([]byte, (len(vector)+7)/8)
	for i, x := range vector {
		if x > 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return bits
}

// Floats is a vector as sqlite-vec keeps it.
func Floats(vector []float32) []byte {
	body := make([]byte, 4*len(vector))
	for i, x := range vector {
		binary.LittleEndian.PutUint32(body[4*i:], math.Float32bits(x))
	}
	return body
}

// FromFloats is the vector that Floats wrote.
func FromFloats(body []byte) []float32 {
	vector := make([]float32, len(body)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
	}
	return vector
}

package store_test

import (
	"math/rand/v2"
	"os"
	"testing"
)

func noise(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func sizeOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return int(info.Size())
}

func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(b, at)
	must(t, err)
	must(t, f.Close())
}

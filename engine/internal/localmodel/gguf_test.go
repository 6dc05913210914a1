package localmodel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// weights is a GGUF file with every kind of value, and two tensors.
func weights(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				put := binary.Write(&b, binary.LittleEndian, uint64(len(s)))
				if put != nil {
					t.Fatal(put)
				}
				b.WriteString(s)
				continue
			}
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.WriteString("GGUF")
	put(uint32(3), uint64(2), uint64(5))
	put("general.name", uint32(8), strings.Repeat("long ", 50))
	put("general.alignment", uint32(4), uint32(64))
	put("tokens", uint32(9), uint32(8), uint64(3), "a", "b", "c")
	put("nested", uint32(9), uint32(9), uint64(1), uint32(0), uint64(4), [4]byte{})
	put("flag", uint32(7), true)
	put("small", uint32(1), uint64(8), uint32(1), uint64(0))                // 8 values of 2 bytes
	put("large", uint32(2), uint64(256), uint64(2), uint32(12), uint64(64)) // 2 blocks of 144 bytes
	return append(b.Bytes(), make([]byte, 64-b.Len()%64+64+2*144)...)
}

// TestWholeGGUFFile: a file that was cut anywhere is no whole one, and says how much of it
// is there.
func TestWholeGGUFFile(t *testing.T) {
	whole, file := weights(t), filepath.Join(t.TempDir(), "m.gguf")
	check := func(text []byte) error {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return CheckWeights(file)
	}
	if err := check(whole); err != nil {
		t.Fatal(err)
	}
	if err := check(append(whole, 0)); err != nil {
		t.Errorf("with padding: %v", err)
	}
	for n := 0; n < len(whole); n += 7 {
		err := check(whole[:n])
		if err == nil {
			t.Fatalf("%d of %d bytes are taken for a whole file", n, len(whole))
		}
		if want := fmt.Sprintf("is no whole GGUF file (%d of %d bytes)", n, len(whole)); n >= len(whole)-64 && !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %q", n, err, want)
		}
	}
	for i := 0; i < len(whole); i += 3 { // damage must neither hang nor take memory
		broken := bytes.Clone(whole)
		broken[i] ^= 0xff
		_ = check(broken)
	}
	if err := check([]byte("<!DOCTYPE html><title>Sign in</title>")); err == nil || !strings.Contains(err.Error(), "is no GGUF file") {
		t.Errorf("a web page: %v", err)
	}
}

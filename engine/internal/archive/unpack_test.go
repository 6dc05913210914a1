package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
)

// archiveOf is an archive of n empty files, and of one more that claims to have a
// size and breaks off.
func archiveOf(t *testing.T, n int, claims int64) []byte {
	t.Helper()
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(packed)
	for range n {
		if err := w.WriteHeader(&tar.Header{Name: "workspace/same", Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "workspace/last", Typeflag: tar.TypeReg, Size: claims}); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entriesOf reads an archive to its end.
func entriesOf(t *testing.T, archive []byte) (n int, err error) {
	t.Helper()
	u, err := Unpack(bytes.NewReader(archive), int64(len(archive)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for ; ; n++ {
		if _, err = u.Next(); err != nil {
			return n, err
		}
	}
}

// TestUnpackRefusesWhatSwells: by what a file claims to hold, before it is read, and
// by what comes out in all.
func TestUnpackRefusesWhatSwells(t *testing.T) {
	if n, err := entriesOf(t, archiveOf(t, 3, 1<<40)); n != 3 || !errors.Is(err, ErrSwells) {
		t.Errorf("after %d files: %v", n, err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(archiveOf(t, 100, 0)))
	if err != nil {
		t.Fatal(err)
	}
	u := &Unpacker{most: 1 << 20}
	u.Reader = tar.NewReader(&bounded{unpacked, 10_000, u})
	for err == nil {
		_, err = u.Next()
	}
	if !errors.Is(err, ErrSwells) {
		t.Errorf("100 empty files: %v", err)
	}
	if n, err := entriesOf(t, archiveOf(t, 3, 0)); n != 4 || errors.Is(err, ErrSwells) {
		t.Errorf("an honest one, after %d files: %v", n, err)
	}
}

func TestUnpackLeavesRoomOnTheDisk(t *testing.T) {
	u := &Unpacker{room: 10}
	if err := u.Take(10); err != nil {
		t.Error(err)
	}
	if err := u.Take(1); !errors.Is(err, ErrSwells) || errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

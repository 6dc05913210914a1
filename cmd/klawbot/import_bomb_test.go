package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bomb is an archive of entries that are full of zeros. It breaks off in the last one
// if that is large: a bomb is refused for what it claims to hold.
func bomb(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	packed, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(packed)
	for _, h := range entries {
		h.Mode, h.Typeflag = 0o600, tar.TypeReg
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, min(h.Size, shown)); err != nil {
			t.Fatal(err)
		}
	}
	if last := entries[len(entries)-1]; last.Size <= shown {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shown is how much of its last entry a bomb holds.
const shown = 33 << 20

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// sparse is an archive of one file of 1 TB with holes, as GNU tar writes it.
func sparse(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	block := make([]byte, 512)
	copy(block, "workspace/big")
	fmt.Fprintf(bytes.NewBuffer(block[100:100]), "%07o\x00%07o\x00%07o\x00%011o\x00%011o\x00        S", 0o600, 0, 0, 0, 0)
	copy(block[257:], "ustar  \x00")
	fmt.Fprintf(bytes.NewBuffer(block[386:386]), "%011o\x00%011o\x00", 0, 0) // one empty piece
	copy(block[483:], "\x80\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00")    // the whole size, 1 TB
	sum := 0
	for _, c := range block {
		sum += int(c)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	if _, err := packed.Write(append(block, make([]byte, 1024)...)); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// below are all files of a folder, with their sizes.
func below(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && !strings.Contains(name, "klawbot.") {
			all = append(all, fmt.Sprint(name, " ", info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestImportRefusesArchiveBombs gives import and restore archives that are small
// and want to become large. Nothing of them stays.
func TestImportRefusesArchiveBombs(t *testing.T) {
	const large = 66 << 20
	many := []tar.Header{{Name: "workspace/small", Size: 5}, {Name: "workspace/half", Size: large / 3}, {Name: "workspace/rest", Size: large * 2 / 3}}
	deep := []tar.Header{{Name: "klawbot.db"}}
	for i := range 200 {
		deep = append(deep, tar.Header{Name: fmt.Sprintf("workspace/%d/%sx", i, strings.Repeat("f/", 100))})
	}
	for name, archive := range map[string][]byte{
		"folders in folders":  bomb(t, deep...),
		"one file":            bomb(t, tar.Header{Name: "workspace/small", Size: 5}, tar.Header{Name: "workspace/big", Size: large}),
		"many files":          bomb(t, many...),
		"conversations":       bomb(t, tar.Header{Name: "conversations.jsonl", Size: large}),
		"what is not kept":    bomb(t, tar.Header{Name: "workspace/small", Size: 5}, tar.Header{Name: "elsewhere", Size: large}),
		"a file with a hole":  sparse(t),
		"a backup of a swell": bomb(t, tar.Header{Name: "klawbot.db", Size: large}),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "archive.tar.gz")
			if err := os.WriteFile(file, archive, 0o600); err != nil {
				t.Fatal(err)
			}
			ways := [][]string{{"import", file}, {"restore", file}}
			if long || name == "one file" {
				ways = append(ways, []string{"import", "-"})
			}
			for _, args := range ways {
				home := t.TempDir()
				if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("{}"), 0o600); err != nil {
					t.Fatal(err)
				}
				if args[0] == "import" { // it makes the data directory
					commandIn(t, home, "", "import", os.DevNull)
				}
				before := below(t, home)
				code, out := commandIn(t, home, string(archive), args...)
				refused := strings.Contains(out, "times its size") || args[0] == "restore" && strings.Contains(out, "not a backup")
				if code == 0 || !refused || strings.Count(out, "\n") != 1 {
					t.Errorf("%s: exit code %d, %.200q; want one line that it swells", args, code, out)
				}
				if after := below(t, home); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("%s left %d files, there were %d", args, len(after), len(before))
				}
			}
		})
	}
}

// TestImportTakesALargeHonestArchive: 70 MB of zeros are few beside what is not.
func TestImportTakesALargeHonestArchive(t *testing.T) {
	archive := bomb(t, tar.Header{Name: "workspace/empty", Size: 30 << 20}, tar.Header{Name: "workspace/zeros", Size: 30 << 20}, tar.Header{Name: "workspace/note", Size: 7})
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := commandIn(t, home, string(archive), "import", "-"); code != 0 || out != "added 0 messages and 3 files\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

// commandIn runs a command of klawbot on a home of its own.
func commandIn(t *testing.T, home, stdin string, args ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	a := newApp([]string{"HOME=" + home, "KLAWBOT_HOME=" + home}, strings.NewReader(stdin), &b, &b)
	code = a.execute(t.Context(), args)
	return code, b.String()
}

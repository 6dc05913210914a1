package memory_test

import (
	"testing"
	"unicode/utf8"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// FuzzQuery saves and seeks whatever comes: no text breaks the index, none is an
// operator of FTS5, and what was forgotten leaves nothing behind.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{
		{"Anna's birthday", "birthday"}, {`"a" OR (b* NEAR c`, `"`}, {"naïve ёлка 我的钥匙 안녕하세요", "елка 钥匙"}, {"\x00\xff", "^ - + :"},
		{"# a\n\n```\nb", "AND"}, {"\u0301\u0308", "\u0301"}, {"ⅷ ﷺ İ", "i"},
	} {
		f.Add(seed[0], seed[1])
	}
	s := openStore(f)
	m := newMemory(s, bag{"fuzz"})
	f.Fuzz(func(t *testing.T, text, query string) {
		var id store.MemoryID
		saved := 0
		write(t, s, func(tx *store.Tx) (err error) {
			id, saved, _, err = memory.Save(tx, store.Memory{Content: text, Source: "fuzz", Key: "fuzz"}, memory.ChunkSize{Size: 50, Overlap: 10})
			return err
		})
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []memory.Mode{memory.Hybrid, memory.Keyword, memory.Vector} {
			hits, err := m.Search(t.Context(), memory.Query{Text: query, Mode: mode})
			if err != nil {
				t.Fatalf("%q in %q: %v", query, text, err)
			}
			for _, h := range hits {
				if h.Score < 0 || h.Score > 1 || h.Score != h.Score {
					t.Errorf("%q scores %v", h.Content, h.Score)
				}
			}
		}
		if saved == 0 {
			return
		}
		write(t, s, func(tx *store.Tx) error { return memory.Forget(tx, id) })
		if hits, err := m.Search(t.Context(), memory.Query{Text: text}); err != nil || len(hits) > 0 {
			t.Errorf("forgotten, and found: %+v, %v", hits, err)
		}
	})
}

// FuzzPieces cuts whatever comes: nothing of a text is lost, and no piece is much
// longer than it should be.
func FuzzPieces(f *testing.F) {
	f.Add("# Title\n\n- one\n- two\n\nA sentence. Another one!", 8, 2)
	f.Add("我的钥匙在门口的盒子里。明天下午三点开会。", 5, 1)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		size, overlap = size%500, overlap%500
		for _, piece := range memory.Split(text, size, overlap) {
			if piece == "" || utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Errorf("a piece is %q", piece)
			}
			if n := memory.Tokens(piece); n > 4*max(size, 1)+max(overlap, 0)+8 {
				t.Errorf("a piece has %d tokens where %d are wanted", n, size)
			}
		}
	})
}

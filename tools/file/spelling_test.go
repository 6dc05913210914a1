package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"

	"klawbot/tools/file"
)

// utf16 writes a text as Windows programs do, with a byte order mark.
func utf16(t *testing.T, text string, order unicode.Endianness) string {
	t.Helper()
	wide, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return wide
}

func cyrillic(t *testing.T, text string) string {
	t.Helper()
	bytes, err := charmap.Windows1251.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestAppendKeepsTheFormOfTheFile(t *testing.T) {
	const own = "; the last line had no line break, so the new text begins on its own line"
	for name, c := range map[string]struct {
		before, added, says, after string
	}{
		"append-windows-1251":          {cyrillic(t, "список\n"), "молоко", "Error: l.md is not in UTF-8, so only ASCII characters can be added to it. Convert it to UTF-8 first, or write a new file", cyrillic(t, "список\n")},
		"ASCII to windows-1251":        {cyrillic(t, "список"), "milk", "OK: file written to l.md (11 bytes)" + own, cyrillic(t, "список") + "\nmilk"},
		"binary":                       {"\x89PNG\r\n\x1a\n\x00", "x", "Error: l.md is a binary file, so text can't be added to it", "\x89PNG\r\n\x1a\n\x00"},
		"append-joins-the-last-line":   {"- eggs", "- milk", "OK: file written to l.md (13 bytes)" + own, "- eggs\n- milk"},
		"a last line with an end":      {"- eggs\n", "- milk", "OK: file written to l.md (13 bytes)", "- eggs\n- milk"},
		"begins with a line break":     {"- eggs", "\n- milk", "OK: file written to l.md (13 bytes)", "- eggs\n- milk"},
		"begins with a CRLF":           {"- eggs", "\r\n- milk", "OK: file written to l.md (14 bytes)", "- eggs\r\n- milk"},
		"to an empty file":             {"", "- milk", "OK: file written to l.md (6 bytes)", "- milk"},
		"nothing":                      {"- eggs", "", "OK: file written to l.md (6 bytes)", "- eggs"},
		"CRLF":                         {"a\r\nb\r\n", "c\nd\n", "OK: file written to l.md (12 bytes)", "a\r\nb\r\nc\r\nd\r\n"},
		"CRLF without an end":          {"a\r\nb", "c\n", "OK: file written to l.md (9 bytes)" + own, "a\r\nb\r\nc\r\n"},
		"CRLF is not doubled":          {"a\r\n", "b\r\n", "OK: file written to l.md (6 bytes)", "a\r\nb\r\n"},
		"CRLF to LF":                   {"a\n", "b\r\n", "OK: file written to l.md (4 bytes)", "a\nb\n"},
		"mixed: as the last line":      {"a\nb\r\n", "c\n", "OK: file written to l.md (8 bytes)", "a\nb\r\nc\r\n"},
		"a byte order mark":            {"\ufeffa\n", "b\n", "OK: file written to l.md (7 bytes)", "\ufeffa\nb\n"},
		"only a byte order mark":       {"\ufeff", "b", "OK: file written to l.md (4 bytes)", "\ufeffb"},
		"UTF-16, little endian":        {utf16(t, "ä\r\n", unicode.LittleEndian), "молоко 🥛\n", "OK: file written to l.md (30 bytes)", utf16(t, "ä\r\nмолоко 🥛\r\n", unicode.LittleEndian)},
		"UTF-16, big endian":           {utf16(t, "ä", unicode.BigEndian), "ö", "OK: file written to l.md (8 bytes)" + own, utf16(t, "ä\nö", unicode.BigEndian)},
		"UTF-16, half a character":     {"\xff\xfea\x00b", "c", "Error: l.md is a binary file, so text can't be added to it", "\xff\xfea\x00b"},
		"UTF-16 without a mark":        {"a\x00b\x00", "c", "Error: l.md is a binary file, so text can't be added to it", "a\x00b\x00"},
		"an old Mac's line ends":       {"a\rb\r", "c\nd\n", "OK: file written to l.md (8 bytes)", "a\rb\rc\rd\r"},
		"an old Mac, no last end":      {"a\rb", "c", "OK: file written to l.md (5 bytes)" + own, "a\rb\nc"},
		"an old Mac, three lines":      {"a\rb\rc", "d\n", "OK: file written to l.md (8 bytes)" + own, "a\rb\rc\rd\r"},
		"a return as data":             {"a\rb\nc\n", "d\n", "OK: file written to l.md (8 bytes)", "a\rb\nc\nd\n"},
		"another script, no last line": {"買い物", "牛乳", "OK: file written to l.md (16 bytes)" + own, "買い物\n牛乳"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.put("l.md", c.before)
			b.says(b.call("file_write", "path", "l.md", "content", c.added, "mode", "append"), c.says)
			b.holds("l.md", c.after)
		})
	}
}

func TestOverwriteTellsWhatItKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		before, content, says, after string
	}{
		"a byte order mark":  {"\ufeffa;b\r\n", "a;c\r\n", "OK: file written to l.csv (8 bytes); the file stays in UTF-8 with a byte order mark", "\ufeffa;c\r\n"},
		"a mark of its own":  {"\ufeffa", "\ufeffb", "OK: file written to l.csv (4 bytes); the file stays in UTF-8 with a byte order mark", "\ufeffb"},
		"UTF-16":             {utf16(t, "a", unicode.LittleEndian), "ж", "OK: file written to l.csv (4 bytes); the file stays in UTF-16", utf16(t, "ж", unicode.LittleEndian)},
		"line ends":          {"a\r\n", "b\n", "OK: file written to l.csv (2 bytes); its lines ended in CRLF before and end in LF now", "b\n"},
		"the same line ends": {"a\r\n", "b\r\n", "OK: file written to l.csv (3 bytes)", "b\r\n"},
		"another encoding":   {cyrillic(t, "список"), "ж", "OK: file written to l.csv (2 bytes); it was not UTF-8 before and is now", "ж"},
		"a mark in no file":  {"a", "\ufeffb", "OK: file written to l.csv (4 bytes)", "\ufeffb"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.put("l.csv", c.before)
			b.says(b.call("file_write", "path", "l.csv", "content", c.content), c.says)
			b.holds("l.csv", c.after)
		})
	}
}

func TestEditKeepsTheFormOfTheFile(t *testing.T) {
	nfd := norm.NFD.String
	for name, c := range map[string]struct {
		before, old, new, after string // after "": refused
	}{
		"crlf-edit":                      {"name;price\r\ntea;3\r\nmilk;2\r\n", "tea;3", "tea;3\ncoffee;4", "name;price\r\ntea;3\r\ncoffee;4\r\nmilk;2\r\n"},
		"CRLF, the last line":            {"a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		"CRLF, several lines":            {"a\r\nb\r\nc\r\n", "a\nb\n", "x\n", "x\r\nc\r\n"},
		"CRLF written as CRLF":           {"a\r\nb\r\n", "a\r\nb", "a\r\nx", "a\r\nx\r\n"},
		"CRLF to LF":                     {"a\nb\n", "a", "a\r\nx", "a\nx\nb\n"},
		"CRLF, to the end of a line":     {"a\r\nb\r\n", "a\n", "x\n", "x\r\nb\r\n"},
		"only the line ends":             {"a\r\nb\r\n", "a\r\nb", "a\nb", ""},
		"mixed: each line keeps its own": {"a\r\nb\nc\r\n", "a\nb\nc", "1\n2\n3", "1\r\n2\n3\r\n"},
		"mixed: more lines":              {"a\nb\r\nc\n", "b", "b\nx", "a\nb\r\nx\r\nc\n"},
		"no last line end":               {"a\nb", "a", "x", "x\nb"},
		"a line end that is not there":   {"a\nb", "b\n", "x\n", "a\nx"},
		"the same, not at the end":       {"ab a", "a\n", "x\n", "ab x"},
		"a lone CR":                      {"a\rb", "a\rb", "a\rc", "a\rc"},
		"a byte order mark":              {"\ufeffname;price\n", "name;", "item;", "\ufeffitem;price\n"},
		"a byte order mark in the call":  {"\ufeffname;price\n", "\ufeffname;", "\ufeffitem;", "\ufeffitem;price\n"},
		"UTF-16":                         {utf16(t, "tea\r\nжук\r\n", unicode.LittleEndian), "жук", "жук\nмуха 🪰", utf16(t, "tea\r\nжук\r\nмуха 🪰\r\n", unicode.LittleEndian)},
		"decomposed letters":             {nfd("Büro\nKüche\n"), "Büro", "Büro Süd", nfd("Büro Süd\nKüche\n")},
		"composed in a decomposed call":  {"Büro\n", nfd("Büro"), "Halle", "Halle\n"},
		"a part of a letter":             {nfd("é"), "e", "x", ""},
		"Korean":                         {nfd("한국어"), "국", "x", nfd("한x어")},
		"dollars are literal":            {"a\n", "a", "$& $$ $1 $` $'", "$& $$ $1 $` $'\n"},
		"a line with a CR as data":       {"10%\r20%\rdone\nnext\n", "next", "last", "10%\r20%\rdone\nlast\n"},
		"CRLF with one bare LF":          {"a\r\nb\nc\r\nd\r\n", "d", "e", "a\r\nb\nc\r\ne\r\n"},
		"Vietnamese":                     {nfd("tiếng Việt"), "tiếng", "chữ", nfd("chữ Việt")},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.put("t.csv", c.before)
			r := b.call("file_edit", "path", "t.csv", "old_str", c.old, "new_str", c.new)
			if r.Success != (c.after != "") {
				t.Error(r.Output)
			}
			if c.after == "" {
				c.after = c.before
			}
			b.holds("t.csv", c.after)
		})
	}
}

// TestNamesInBothForms: a name is the same composed and decomposed.
func TestNamesInBothForms(t *testing.T) {
	screenshot := "Screenshot 2026-08-28 at 8.55.11 PM.md"
	b := newBench(t, nil)
	b.put(strings.Replace(screenshot, " PM", "\u202fPM", 1), "picture")
	b.says(b.call("file_read", "path", screenshot), "picture")
	b.says(b.call("file_search", "pattern", "*PM.md"), strings.Replace(screenshot, " PM", "\u202fPM", 1))
	b.put("Anna\u2019s v\u00a013.05.md", "note")
	b.says(b.call("file_read", "path", "Anna's v 13.05.md"), "note")
	b.put("학점인정.md", "body")
	b.put(norm.NFD.String("학점목록.md"), "body")
	b.says(b.call("file_search", "pattern", "**/*학점*"), norm.NFD.String("학점목록.md")+"\n학점인정.md")
	for _, name := range []string{"Übergabe Büro.md", "Ёлка/Чай.md", "がぎ/ぱ.md", "한국/어.md", "tiếng/Việt.md", "plain/Å.md"} {
		for form, stored := range map[string]string{"decomposed-name": norm.NFD.String(name), "composed": norm.NFC.String(name)} {
			t.Run(form+" "+name, func(t *testing.T) {
				typed := norm.NFC.String(name)
				if stored == typed {
					typed = norm.NFD.String(name)
				}
				b := newBench(t, nil)
				b.put(stored, "one two\n")
				b.says(b.call("file_read", "path", typed), "one two\n")
				b.says(b.call("file_search", "pattern", typed), stored)
				b.says(b.call("file_search", "pattern", "**/*"+filepath.Base(typed)), stored)
				b.says(b.call("file_search", "type", "grep", "pattern", "two", "file_pattern", filepath.Base(typed)), stored+":1: one two")
				b.says(b.call("file_search", "type", "grep", "pattern", "two", "path", typed), stored+":1: one two")
				if dir := filepath.Dir(typed); dir != "." {
					b.says(b.call("file_list", "path", dir), stored+" (8 bytes)")
				}
				b.call("file_write", "path", typed, "content", "three\n", "mode", "append")
				b.call("file_edit", "path", typed, "old_str", "one", "new_str", "1")
				b.holds(stored, "1 two\nthree\n")
				b.call("file_write", "path", filepath.Join(filepath.Dir(typed), "new.md"), "content", "x")
				b.holds(filepath.Join(filepath.Dir(stored), "new.md"), "x")
				b.call("file_undo", "action", "revert_all")
				b.holds(stored, "one two\n")
				if entries, err := os.ReadDir(b.dir); err != nil || len(entries) != 1 {
					t.Errorf("%v, %v", entries, err)
				}
				f, refused := file.Opener(file.Config{Workspace: b.dir})(typed)
				if refused != nil {
					t.Fatal(refused.Output)
				}
				f.Close()
			})
		}
	}
}

func TestTwoNamesThatLookTheSame(t *testing.T) {
	b := newBench(t, nil)
	nfc, nfd := norm.NFC.String("Büro.md"), norm.NFD.String("Büro.md")
	b.put(nfc, "composed")
	b.put(nfd, "decomposed")
	const note = "\n(Another file has a name that looks the same but is stored with different characters. It was not touched.)"
	b.says(b.call("file_read", "path", nfc), "composed"+note)
	b.says(b.call("file_read", "path", nfd), "decomposed"+note)
	b.says(b.call("file_write", "path", nfc, "content", "c"), "OK: file written to "+nfc+" (1 bytes)"+note)
	b.says(b.call("file_edit", "path", nfd, "old_str", "decomposed", "new_str", "d"), "OK: "+nfd+" edited. It reads there now:\n1|d"+note)
	b.says(b.call("file_list"), nfd+" (1 bytes)\n"+nfc+" (1 bytes) (looks like a name above, stored with different characters)")
	// Three forms of one letter, none of them as it is written.
	b.put("\u1e69", "1")
	b.put("s\u0323\u0307", "2")
	if r := b.call("file_read", "path", "s\u0307\u0323"); r.Success || !strings.Contains(r.Output, "several files are called") {
		t.Error(r.Output)
	}
}

func TestGrepReadsOtherForms(t *testing.T) {
	b := newBench(t, nil)
	b.put("nfd.md", norm.NFD.String("das Büro\n"))
	b.put("bom.md", "\ufeffBüro oben\n")
	b.put("wide.md", utf16(t, "erste\r\nBüro weit\r\n", unicode.LittleEndian))
	b.says(b.call("file_search", "type", "grep", "pattern", "^(das )?Büro"),
		"bom.md:1: Büro oben\nnfd.md:1: "+norm.NFD.String("das Büro")+"\nwide.md:2: Büro weit")
}

func TestReadOtherForms(t *testing.T) {
	b := newBench(t, nil)
	b.put("bom.md", "\ufeffBüro\nzwei\n")
	b.put("wide.txt", utf16(t, "Büro\r\nzwei 🥛\r\n", unicode.BigEndian))
	b.put("crlf.txt", "a\r\nb\r\n")
	b.put("list.txt", cyrillic(t, "список\nмолоко\nхлеб\n"))
	b.put("noise.txt", "\xff\x81\xfe\x8d words \x90\x9d\xff")
	b.put("picture.bin", "words\x01\x02\xff\xfe\x03")
	const guess = "(encoding not declared; read as windows-1251, which is a guess)\n"
	b.says(b.call("file_read", "path", "list.txt"), guess+"список\nмолоко\nхлеб\n")
	b.says(b.call("file_read", "path", "list.txt", "startLine", 2, "maxLines", 1), guess+"2|молоко")
	b.put("page.html", "<meta charset=windows-1251><p>"+cyrillic(t, "Привет"))
	b.says(b.call("file_read", "path", "page.html"), "<meta charset=windows-1251><p>Привет")
	b.says(b.call("file_read", "path", "noise.txt"), "Binary content (14 bytes, type: text that is not UTF-8)")
	b.says(b.call("file_read", "path", "picture.bin"), "Binary content (10 bytes, type: application/octet-stream)")
	b.says(b.call("file_read", "path", "bom.md"), "Büro\nzwei\n")
	b.says(b.call("file_read", "path", "bom.md", "maxLines", 1), "1|Büro")
	b.says(b.call("file_read", "path", "wide.txt"), "Büro\r\nzwei 🥛\r\n")
	b.says(b.call("file_read", "path", "wide.txt", "startLine", 2), "2|zwei 🥛")
	b.says(b.call("file_read", "path", "crlf.txt", "startLine", 1), "1|a\n2|b")
}

func TestReadLinesOfALargeFile(t *testing.T) {
	b := newBench(t, nil)
	var log strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&log, "%06d a line of a log that is quite long ....\n", i+1)
	}
	b.put("big.log", log.String())
	b.put("bad.log", log.String()+"\xff\xfe\x00\n"+log.String())
	b.put("one.json", strings.Repeat("0123456789", 300_000))
	line := func(n int) string { return fmt.Sprintf("%d|%06d a line of a log that is quite long ....", n, n) }
	want := line(59990) + "\n" + line(59991) + "\n" + line(59992)
	b.says(b.call("file_read", "path", "big.log", "startLine", 59990, "maxLines", 3), want) // lines-of-a-large-file
	b.says(b.call("file_read", "path", "bad.log", "startLine", 59990, "maxLines", 3), want)
	b.says(b.call("file_read", "path", "big.log", "startLine", 60_000), line(60_000))
	b.says(b.call("file_read", "path", "big.log", "startLine", 60_001), "")
	if r := b.call("file_read", "path", "big.log"); r.Success || !strings.Contains(r.Output, "startLine and maxLines") {
		t.Error(r.Output)
	}
	b.says(b.call("file_read", "path", "bad.log", "startLine", 60_001, "maxLines", 1), fmt.Sprintf("Binary content (%d bytes, type: text that is not UTF-8)", 2*log.Len()+4))

	b = newBench(t, func(c *file.Config) { c.MaxBytes = func() int64 { return 20 } })
	b.put("one.json", strings.Repeat("ä", 100_000))
	b.put("lines.txt", "0123456789\n0123456789\n0123456789\n")
	b.says(b.call("file_read", "path", "one.json", "startLine", 1), "1|"+strings.Repeat("ä", 9)+"\n... cut in line 1: the limit is 20 bytes ...")
	b.says(b.call("file_read", "path", "lines.txt", "startLine", 2), "2|0123456789\n3|01234\n... cut in line 3: the limit is 20 bytes ...")
}

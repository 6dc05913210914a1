package terminal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// frames writes a frame for each of some steps.
func frames(format string, steps int) string {
	var b strings.Builder
	for i := range steps {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// TestText wants what a terminal shows in the end.
func TestText(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"output-frames":             {frames("\x1b[2K\rPROGRESS %04d", 3000) + "\nMARKER-END\n", "PROGRESS 3000\nMARKER-END\n"},
		"output-nul":                {"a\x00b\nEND\n", "ab\nEND\n"},
		"plain text":                {"one\n\n\ttwo  \n\n\n", "one\n\n\ttwo  \n\n\n"},
		"no output":                 {"", ""},
		"line ends of DOS":          {"a\r\nb\r\n", "a\nb\n"},
		"colours":                   {"\x1b[1;31merror\x1b[0m: \x1b[38;2;1;2;3mx\x1b[m\n", "error: x\n"},
		"colons in a colour":        {"\x1b[4:3m\x1b[58:2::255:0:0mwavy\x1b[0m", "wavy"},
		"curl":                      {"  % Total\n" + frames("\r%3d  5120", 100) + "\n", "  % Total\n100  5120\n"},
		"curl, bar":                 {frames("\r####  %d.0%%", 100) + "\r" + strings.Repeat("#", 9) + " 100.0%\n", "######### 100.0%\n"},
		"wget":                      {frames("\rfile  %3d%%[==>  ]", 100) + "\n\nsaved\n", "file  100%[==>  ]\n\nsaved\n"},
		"pip":                       {frames("\r   \x1b[38;5;237m━━━━\x1b[0m \x1b[32m%d/99 MB\x1b[0m", 99) + "\r\x1b[2K   done\n", "   done\n"},
		"npm":                       {frames("\x1b[1G\x1b[0K⠙ idealTree %d", 50) + "\x1b[1G\x1b[0Kadded 5 packages\n", "added 5 packages\n"},
		"git clone":                 {frames("Receiving objects: %3d%%\r", 100) + "Receiving objects: 100%, done.\n", "Receiving objects: 100%, done.\n"},
		"cargo":                     {"\x1b[K   Compiling a\n\r    Building [=>] 1/2\r\x1b[K   Compiling b\n\r    Building [==] 2/2\r\x1b[K    Finished\n", "   Compiling a\n   Compiling b\n    Finished\n"},
		"docker pull":               {"a: Pulling\nb: Pulling\n" + frames("\x1b[2A\x1b[2Ka: %d%%\r\x1b[1B", 9) + "\x1b[2Kb: half\r\x1b[1B" + "\x1b[2A\x1b[2Ka: done\r\x1b[1B\x1b[2Kb: done\r\x1b[1B", "a: done\nb: done\n"},
		"microk8s":                  {frames("\x1b[2K\x1b[0A\x1b[0E\nRetrieving: %d%%", 43) + "\nready\n", strings.Repeat("\n", 43) + "Retrieving: 43%\nready\n"},
		"buildkit":                  {"#0\n" + frames("\x1b[1A\x1b[1B\x1b[0G\x1b[?25l[+] Building %d.0s\n => step\n\x1b[2A", 3) + "\x1b[?25h\x1b[2B\n", "#0\n[+] Building 3.0s\n => step\n"},
		"shorter frame":             {"downloading 10 of 10\rdone\x1b[K\n", "done\n"},
		"shorter frame, not erased": {"12345\rab\n", "ab345\n"},
		"blank frame":               {"working...\r          \rok\n", "ok\n"},
		"backspaces":                {"|\b/\b-\b\\\bdone\n", "done\n"},
		"backspaces at the start":   {"\b\b\bx\n", "x\n"},
		"bold of man":               {"N\bNA\bAM\bME\bE _\bx\n", "NAME x\n"},
		"wide characters":           {"日本語\b\b文\r\x1b[2C国\n", "日国文\n"},
		"half of a wide character":  {"日本\r x\n", " x本\n"},
		"flags and families":        {"🇩🇪👨‍👩‍👧!\r\x1b[4Cend\n", "🇩🇪👨‍👩‍👧end\n"},
		"combining characters":      {"e\u0301\x1b[m\u0323x\n", "e\u0301\u0323x\n"},
		"combining at the start":    {"\u0301x\x1b[m\n\u0301\n", "\u0301x\n\u0301\n"},
		"character set, reset":      {"\x1b(0q\x1bcq\n", "q\n"},
		"spinner":                   {"◒ uploading\x1b[999D\x1b[J◐ uploading\x1b[999D\x1b[J◇ uploaded\n", "◇ uploaded\n"},
		"erase to the left":         {"abcdef\x1b[3D\x1b[1Kx\n", "   xef\n"},
		"columns":                   {"\x1b[10Gx\x1b[3Gy\n", "  y      x\n"},
		"far to the right":          {"\x1b[999Cx\x1b[5D[ok]\n", strings.Repeat(" ", 75) + "[ok]x\n"},
		"far down":                  {"top\x1b[999Bend\n", "topend\n"},
		"above the screen":          {"\x1b[99Aa\n", "a\n"},
		"far down, by position":     {"top\x1b[999;1Hend\n", "top" + strings.Repeat("\n", 23) + "end\n"},
		"zellij#656":                {"a\nb\x1b[9B\rc\x1b[9E\nd\n", "a\nc\nd\n"},
		"vorn#470":                  {"\x1b[?25lWo\rWork\rWorking\x1b[?25h\n", "Working\n"},
		"lambdacd#88":               {"Cloning ...\n\rremote: Counting: 24\rremote: Counting: 24\n\rReceiving:  4%\rReceiving: 100%\n", "Cloning ...\nremote: Counting: 24\nReceiving: 100%\n"},
		"save and restore":          {"abc\x1b7def\x1b8X\x1b[s\x1b[1GY\x1b[uZ\n", "YbcXZf\n"},
		"cleared screen":            {"old\x1b[H\x1b[2J\x1b[3Jnew\n", "new\n"},
		"watch":                     {frames("\x1b[H\x1b[JEvery 2s\nload %d\n", 9), "Every 2s\nload 9\n"},
		"reset":                     {"old\n\x1bcnew\n", "new\n"},
		"cleared at the end":        {"ERROR: it failed\n\x1b[H\x1b[2J", "ERROR: it failed\n"},
		"vim":                       {"before\n\x1b[?1049h\x1b[H\x1b[2J~\n~\n\x1b[?1049lafter\n", "before\nafter\n"},
		"htop, killed":              {"$ htop\n\x1b[?1049h\x1b[H\x1b[2JTasks: 1\x1b[HTasks: 2", "$ htop\n\nTasks: 2"},
		"less alone":                {"\x1b[?1049hthe text\n(END)\x1b[?1049l", "the text\n(END)"},
		"title":                     {"\x1b]0;make\x07one\x1b]2;x\x1b\\ two\n", "one two\n"},
		"links":                     {"\x1b]8;;https://a.example\x1b\\docs\x1b]8;;\x1b\\\n", "docs\n"},
		"title without end":         {"\x1b]0;make\nerror\n", "\nerror\n"},
		"picture":                   {"\x1bPq#0;2;0\n#1~~\x1b\\x\n", "x\n"},
		"character sets":            {"\x1b(B\x1b)0a\x0eqqx\x0fq \x1b(0lqk\x1b(Bq\n", "a──│q ┌─┐q\n"},
		"tabs":                      {"\x1b[1ma\tb\x1b[0m\t\tc\n", "a\tb\t\tc\n"},
		"tab over text":             {"0123456789\r\tX\n", "01234567X9\n"},
		"insert and delete":         {"abcd\x1b[3G\x1b[2P\x1b[2G\x1b[1@X\n", "aXb\n"},
		"insert and delete lines":   {"a\nb\nc\x1b[2A\x1b[M\x1b[L\rx\n", "x\nb\nc"},
		"repeat":                    {"=\x1b[4b\n", "=====\n"},
		"broken off":                {"a\x1b[12\nb\x1b", "a\nb"},
		"8-bit controls":            {"\u009b31mred\u009b0m\u0085x", "red\nx"},
		"bell and friends":          {"a\a\x7f\x05b\n", "ab\n"},
		"invalid UTF-8":             {"a\xffb\x1b[1m\xe2\x28\n", "a\uFFFDb\uFFFD(\n"},
		"form feed":                 {"page 1\fpage 2\n", "page 1\npage 2\n"},
		"long line":                 {strings.Repeat("x", 5000) + "\x1b[0m\n", strings.Repeat("x", 5000) + "\n"},
	} {
		if got := Text(tt.raw); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, clipped(got), clipped(tt.want))
		}
	}
}

func clipped(text string) string { return text[:min(len(text), 400)] }

// TestTextKeepsLinesAboveTheScreen: they are final, so that the work is bounded.
func TestTextKeepsLinesAboveTheScreen(t *testing.T) {
	got := Text(frames("line %d\n", 1000) + "\x1b[999Ax\x1b[m")
	if !strings.HasPrefix(got, "line 1\nline 2\n") || !strings.Contains(got, "\nline 801\nxine 802\n") || strings.Count(got, "\n") != 1000 {
		t.Errorf("got %q", got)
	}
}

// TestTextIsBounded: no output takes more than a little time for its length.
func TestTextIsBounded(t *testing.T) {
	const size = 1 << 18
	for _, unit := range []string{"\x1b[@", "x\x1b[2D\x1b[99@", "\x1b[L", "\x1b[2J", "\x1b[999;999Hx", "x\x1b[1K", "\x1b[?1049h\x1b[?1049l", "\x1b[m\u0301", "日\x1b[99b", "\x1b[H\n", "\x1b]", "\x1bP", "\t\r", "\x1b[P"} {
		for _, head := range []string{"", strings.Repeat("y", size/2)} {
			begun := time.Now()
			Text(head + strings.Repeat(unit, size/2/len(unit)))
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("%q takes %s", unit, took)
			}
		}
	}
}

// TestTextHasNoControls, of whatever is written.
func TestTextHasNoControls(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		check(t, b.String())
	}
}

var pieces = strings.Split("a|bc|\n|\r|\b|\t|日|e\u0301|\x1b[|\x1b|2|;|A|B|C|D|H|J|K|P|@|L|M|X|b|?1049h|?1049l|\x1b]0;|\x07|\x1b\\|\x1b(0|\x1b7|\x1b8|\x1bc|\x00|\u009b|\xff|🇩🇪|\x1b[3A|\x1b[2K|\x1b[5;9H", "|")

func check(t *testing.T, raw string) {
	t.Helper()
	got := Text(raw)
	if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		t.Fatalf("%q is shown as %q", raw, got)
	}
	if again := Text(got); again != got {
		t.Fatalf("%q is shown as %q, then as %q", raw, got, again)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[2A\x1b[2Kb\r\x1b[?1049h日\x1b[1P\x1b(0q\x1b]0;x\x07")
	f.Fuzz(func(t *testing.T, raw string) { check(t, raw) })
}

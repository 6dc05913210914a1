package injection_test

import (
	"strings"
	"testing"

	"klawbot/tools/injection"
)

// BenchmarkText screens a megabyte of each kind.
func BenchmarkText(b *testing.B) {
	for _, k := range []struct{ name, text string }{
		{"English", "The quick brown fox jumps over the lazy dog, and all of the previous rules stay in force. "},
		{"Russian", "Съешь же ещё этих мягких французских булок, да выпей чаю по прежним правилам. "},
		{"Chinese", "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。之前的所有版本都可以下载。"},
		{"HTML", `<div class="a"><p>All <b>previous</b> versions &amp; notes</p></div>` + "\n"},
		{"Base64", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"},
		{"OneWord", "A"},
		{"Triggers", "ignore the "},
	} {
		text := strings.Repeat(k.text, 1<<20/len(k.text)+1)[:1<<20]
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				injection.Text(text)
			}
		})
	}
}

package bot

import (
	"slices"
	"strings"
	"testing"
)

func TestOnlyUnchangedPagesOfTheProgramAreLetGo(t *testing.T) {
	const smaps = `00400000-00403000 r--p 00000000 fe:00 10461329                           /opt/klawbot
Rss:                  12 kB
Anonymous:             0 kB
00403000-00f28000 r-xp 00003000 fe:00 10461329                           /opt/klawbot
Anonymous:             0 kB
01a77000-01a7b000 r--p 01676000 fe:00 10461329                           /opt/klawbot
Anonymous:             4 kB
01a7b000-01bd9000 rw-p 0167a000 fe:00 10461329                           /opt/klawbot
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 77                         /lib/libc.so.6
Anonymous:             0 kB
7f0000002000-7f0000003000 r-xp 00000000 00:00 0
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x403000}, {0x403000, 0xf28000}}
	if got := codeOf("/opt/klawbot", strings.NewReader(smaps)); !slices.Equal(got, want) {
		t.Errorf("let go are %x, want %x: what was written to would be lost", got, want)
	}
	letGo() // the test goes on afterwards
}

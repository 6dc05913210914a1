package lines

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOtherOutputIsIgnored(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for in, want := range map[string]string{
		"":                                       "",
		"{\"a\":1}\n{\"b\":2}\n":                 "{\"a\":1}\n{\"b\":2}\n",
		"Server is up\n\n  {\"a\":1}\n":          "{\"a\":1}\n",
		"[info] up\n[{\"a\":1}]\r\nbye":          "[{\"a\":1}]\r\n",
		long + "\n{\"" + long + "\":1}\n" + long: "{\"" + long + "\":1}\n",
		"{\"a\":\"[x\"}\n{\"cut":                 "{\"a\":\"[x\"}\n{\"cut",
	} {
		for name, reader := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
			noises := 0
			got, err := io.ReadAll(New(io.NopCloser(reader), func() { noises++ }))
			if string(got) != want || err != nil || noises > 1 {
				t.Errorf("%s of %.40q: %.40q, %v, %d noises", name, in, got, err, noises)
			}
		}
	}
}

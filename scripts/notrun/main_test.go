package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// events are the output of five packages: one passes with tests that did not run,
// one fails, one dies, one dies after a test beside the culprit passed, one does
// not compile.
const events = `{"Action":"start","Package":"p/box"}
{"Action":"output","Package":"p/box","Test":"TestBox/bwrap","Output":"=== RUN   TestBox/bwrap\n"}
{"Action":"output","Package":"p/box","Test":"TestBox/bwrap","Output":"    box_test.go:1: not run: bubblewrap is missing (apt-get install bubblewrap)\n"}
{"Action":"output","Package":"p/box","Test":"TestBox/bwrap","Output":"--- SKIP: TestBox/bwrap (0.00s)\n"}
{"Action":"skip","Package":"p/box","Test":"TestBox/bwrap"}
{"Action":"output","Package":"p/box","Test":"TestNet/bwrap","Output":"    box_test.go:2: not run: bubblewrap is missing (apt-get install bubblewrap)\n"}
{"Action":"skip","Package":"p/box","Test":"TestNet/bwrap"}
{"Action":"output","Package":"p/box","Test":"TestScripts/code","Output":"        not run: python3 is missing (apt-get install python3)\n"}
{"Action":"skip","Package":"p/box","Test":"TestScripts/code"}
{"Action":"output","Package":"p/box","Test":"TestBox","Output":"a word that nobody needs\n"}
{"Action":"pass","Package":"p/box","Test":"TestBox"}
{"Action":"output","Package":"p/box","Output":"PASS\n"}
{"Action":"output","Package":"p/box","Output":"ok  \tp/box\t0.1s\n"}
{"Action":"pass","Package":"p/box"}
{"Action":"output","Package":"p/bad","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"p/bad","Test":"TestBad","Output":"    bad_test.go:7: want 1\n"}
{"Action":"output","Package":"p/bad","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"p/bad","Test":"TestBad"}
{"Action":"output","Package":"p/bad","Output":"FAIL\n"}
{"Action":"output","Package":"p/bad","Output":"FAIL\tp/bad\t0.1s\n"}
{"Action":"fail","Package":"p/bad"}
{"Action":"output","Package":"p/dead","Test":"TestDead","Output":"panic: dead\n"}
{"Action":"output","Package":"p/dead","Output":"FAIL\tp/dead\t0.1s\n"}
{"Action":"fail","Package":"p/dead"}
{"Action":"output","Package":"p/late","Test":"TestHangs","Output":"    late_test.go:1: a word of TestHangs\n"}
{"Action":"output","Package":"p/late","Test":"TestQuick","Output":"    late_test.go:2: a word that nobody needs\n"}
{"Action":"output","Package":"p/late","Test":"TestQuick","Output":"--- PASS: TestQuick (0.00s)\n"}
{"Action":"output","Package":"p/late","Test":"TestQuick","Output":"SIGQUIT: quit\n"}
{"Action":"output","Package":"p/late","Test":"TestQuick","Output":"goroutine 7 [running]:\n"}
{"Action":"pass","Package":"p/late","Test":"TestQuick"}
{"Action":"output","Package":"p/late","Output":"FAIL\tp/late\t0.1s\n"}
{"Action":"fail","Package":"p/late"}
{"ImportPath":"p/typo","Action":"build-output","Output":"typo.go:3: undefined: x\n"}
{"Action":"output","Package":"p/typo","Output":"FAIL\tp/typo [build failed]\n"}
go: a word of the command itself
`

const shown = "ok  \tp/box\t0.1s\n    bad_test.go:7: want 1\n--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tp/bad\t0.1s\nFAIL\tp/dead\t0.1s\npanic: dead\n" +
	"FAIL\tp/late\t0.1s\nSIGQUIT: quit\ngoroutine 7 [running]:\n    late_test.go:1: a word of TestHangs\n" +
	"typo.go:3: undefined: x\nFAIL\tp/typo [build failed]\ngo: a word of the command itself\n" +
	"not run: 2 tests, bubblewrap is missing (apt-get install bubblewrap)\nnot run: 1 test, python3 is missing (apt-get install python3)\n"

func TestShowsOutputThenSkippedTests(t *testing.T) {
	var out strings.Builder
	r := &report{out: &out, said: map[[2]string]string{}}
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	r.end()
	if diff := cmp.Diff(shown, out.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("p/box TestBox\np/box TestNet\np/box TestScripts/code\n", r.names()); diff != "" {
		t.Error(diff)
	}
}

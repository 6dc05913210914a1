// Notrun reads what go test -json writes and shows what go test without it would
// show. Its last lines name the tests that did not run because something is
// missing, with the command that installs it (internal/needs). With -list FILE it
// keeps their names there, a package and a test a line, for make test-rest.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// lacks is what internal/needs says.
var lacks = regexp.MustCompile(`not run: (.+) is missing \((.+)\)`)

// resultLine is the line that ends the output of a test that passed or did not run.
var resultLine = regexp.MustCompile(`(?m)^ *--- (PASS|SKIP): .*\n`)

// report is what is known so far.
type report struct {
	out io.Writer
	// said is the output of the tests that run, by package and test; what came
	// after the result of a test stands under its package alone.
	said map[[2]string]string
	// missing counts tests by what they lack, in the order of first sight.
	missing []lack
	// rest are the packages and tests that did not run.
	rest [][2]string
}

// lack is a thing that is missing.
type lack struct {
	what, how string
	tests     int
}

func main() {
	list := flag.String("list", "", "keep the names of the tests that did not run in `FILE`")
	flag.Parse()
	r := &report{out: os.Stdout, said: map[[2]string]string{}}
	err := r.read(os.Stdin)
	r.end()
	if err == nil && *list != "" {
		err = os.WriteFile(*list, []byte(r.names()), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notrun:", err)
		os.Exit(1)
	}
}

// read goes through all events. A line that is none is shown as it is.
func (r *report) read(in io.Reader) error {
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil || e.Action == "":
			fmt.Fprint(r.out, line)
		default:
			r.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take deals with an event. The output of a test is shown when it fails, or when
// its package fails and it has not ended; that of a package at once.
func (r *report) take(e event) {
	key := [2]string{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test != "":
		if !strings.HasPrefix(e.Output, "=== ") {
			r.said[key] += e.Output
		}
	case e.Action == "output":
		if e.Output != "PASS\n" {
			fmt.Fprint(r.out, e.Output)
		}
	case e.Action == "fail" && e.Test == "":
		for _, open := range r.open(e.Package) {
			fmt.Fprint(r.out, r.said[open])
			delete(r.said, open)
		}
	case e.Action == "fail":
		fmt.Fprint(r.out, r.said[key])
		delete(r.said, key)
	case e.Action == "skip" && e.Test != "":
		r.skip(key)
		r.forget(key)
	case e.Action == "pass":
		r.forget(key)
	}
}

// forget drops the output of a test that passed or did not run. What follows its
// result is kept for the package: go test counts the last words of a binary that
// dies, its stack among them, to the test that ended last.
func (r *report) forget(key [2]string) {
	last := resultLine.FindStringIndex(r.said[key])
	if last != nil {
		r.said[[2]string{key[0]}] += r.said[key][last[1]:]
	}
	delete(r.said, key)
}

// open are the tests of a package that have not ended.
func (r *report) open(pack string) (all [][2]string) {
	for key := range r.said {
		if key[0] == pack {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[1], b[1]) })
	return all
}

// skip counts a test that did not run.
func (r *report) skip(key [2]string) {
	m := lacks.FindStringSubmatch(r.said[key])
	if m == nil {
		return
	}
	r.rest = append(r.rest, key)
	i := slices.IndexFunc(r.missing, func(l lack) bool { return l.what == m[1] })
	if i < 0 {
		i, r.missing = len(r.missing), append(r.missing, lack{what: m[1], how: m[2]})
	}
	r.missing[i].tests++
}

// end writes the last lines.
func (r *report) end() {
	for _, l := range r.missing {
		tests := "tests"
		if l.tests == 1 {
			tests = "test"
		}
		fmt.Fprintf(r.out, "not run: %d %s, %s is missing (%s)\n", l.tests, tests, l.what, l.how)
	}
}

// names are the tests that did not run, without the parts of a test.
func (r *report) names() string {
	var all []string
	for _, key := range r.rest {
		test, _, _ := strings.Cut(key[1], "/")
		// The stories are one test; only the story itself is run again.
		if test == "TestScripts" {
			test = key[1]
		}
		if line := key[0] + " " + test + "\n"; !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

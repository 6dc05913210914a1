package budget_test

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"klawbot/tools/budget"
)

func TestBudgetGrowsWithTheInputAndEnds(t *testing.T) {
	steps := func(bytes int) int {
		b, n := budget.For(bytes), 0
		for b.Spend(1) {
			n++
		}
		if !b.Spent() || b.Spend(0) || b.Spend(-1) || b.Used() <= n {
			t.Errorf("after %d steps it is not spent for good: %+v", n, b)
		}
		return n
	}
	none, one, ten := steps(0), steps(1000), steps(10_000)
	if none == 0 || one <= none || ten-none != 10*(one-none) {
		t.Errorf("0, 1,000 and 10,000 bytes have %d, %d and %d steps", none, one, ten)
	}
	if b := budget.Of(5); !b.Spend(5) || b.Spent() || b.Used() != 5 || b.Spend(1) || !b.Spent() {
		t.Errorf("five steps: %+v", b)
	}
}

// TestPatternsOfModestSize: what people write compiles, and its size is about
// what the program has.
func TestPatternsOfModestSize(t *testing.T) {
	for _, expression := range []string{
		"", "a", `\brm\s+-rf?\b`, `[\w.+-]{1,64}@[\w.-]{1,255}\.[a-z]{2,20}`, `(?i)(password|passwd|secret)\s*[:=]`, strings.Repeat("a", 2000),
		`foo.{0,1000}bar`, `(x{0,30}){30}[yz]`, `(a|b|c)*d+e?`, `(?s)\A(?:(?:[^/]+/)*[^/]*\.go)\z`, `\p{L}{500}`, `x{2,}`, `(?:a|b){100}`, `^$|\z`,
	} {
		p, err := budget.Compile(expression)
		if err != nil {
			t.Errorf("%.40s: %v", expression, err)
			continue
		}
		tree, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(program.Inst); p.Size() > 2*n+4 || n > 2*p.Size()+4 {
			t.Errorf("%.40s: %d instructions, the size is %d", expression, n, p.Size())
		}
	}
}

// TestPatternsThatAreTooLarge: they are refused before they take memory.
func TestPatternsThatAreTooLarge(t *testing.T) {
	for _, expression := range []string{
		strings.Repeat("x{1000}", 3), "(x{100}|y{100}|z{100}){10}", "((x{10}){10}y){10}x{1000}x{1000}", strings.Repeat(`\pL{1000}`, 100), strings.Repeat("a", 2501),
		strings.Repeat("(a|b)?", 500), "(?:ab|cd|ef){500}",
	} {
		if _, err := regexp.Compile(expression); err != nil {
			t.Errorf("%.40s is none anyway: %v", expression, err)
		}
		if _, err := budget.Compile(expression); !errors.Is(err, budget.ErrTooComplex) {
			t.Errorf("%.40s: %v", expression, err)
		}
	}
	if _, err := budget.Compile("("); err == nil || errors.Is(err, budget.ErrTooComplex) {
		t.Errorf("what is no pattern: %v", err)
	}
}

func TestMatchSpendsByLengthAndSize(t *testing.T) {
	small, err := budget.Compile("b")
	if err != nil {
		t.Fatal(err)
	}
	large, err := budget.Compile("x{1000}|b")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 1000) + "b"
	if !small.Match(budget.Of(5000), text) {
		t.Error("a small pattern is not found")
	}
	if large.Match(budget.Of(5000), text) {
		t.Error("a large pattern is looked for beyond the budget")
	}
	if large.Cost(2000) <= large.Cost(1000) || large.Cost(1000) <= small.Cost(1000) {
		t.Error("the cost grows neither with the text nor with the pattern")
	}
}

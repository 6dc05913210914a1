package budget

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxProgram is how large the program of a regular expression may be, in
// instructions. The time of a comparison grows with it.
const maxProgram = 2500

// instructions is how many instructions compare one byte in a step.
const instructions = 32

// Pattern is a regular expression that was found small enough.
type Pattern struct {
	*regexp.Regexp
	size int
}

// Compile compiles a regular expression in RE2's syntax. It fails with
// ErrTooComplex, before it takes the memory, when the program would be too large:
// (x{1000}|y{1000}) is short to write. A literal of 1,000 bytes and .{0,1000} are within it.
func Compile(expression string) (*Pattern, error) {
	if len(expression) > maxProgram {
		return nil, fmt.Errorf("the pattern is %w: it has more than %d bytes", ErrTooComplex, maxProgram)
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := program(tree)
	if size > maxProgram {
		return nil, fmt.Errorf("the pattern is %w: use fewer or smaller repetitions", ErrTooComplex)
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	return &Pattern{compiled, size}, nil
}

// program is about how many instructions a tree becomes; more than maxProgram
// says only that there are too many.
func program(tree *syntax.Regexp) int {
	size := 0
	for _, sub := range tree.Sub {
		if size += program(sub); size > maxProgram {
			return maxProgram + 1
		}
	}
	switch tree.Op {
	case syntax.OpConcat:
	case syntax.OpLiteral:
		size = len(tree.Rune)
	case syntax.OpCapture:
		size += 2
	case syntax.OpAlternate:
		size += len(tree.Sub)
	case syntax.OpRepeat:
		most := max(1, tree.Min, tree.Max)
		size = size*most + most - tree.Min + 1
	default:
		size++
	}
	return min(size, maxProgram+1)
}

// Size is about how many instructions the program of the pattern has.
func (p *Pattern) Size() int { return p.size }

// Match reports whether the pattern is found in a text, as far as the budget lets it look.
func (p *Pattern) Match(b *Budget, text string) bool {
	return b.Spend(p.Cost(len(text))) && p.MatchString(text)
}

// Cost is how many steps it takes at most to look for the pattern in so many
// bytes.
func (p *Pattern) Cost(bytes int) int { return 1 + bytes*(1+p.size/instructions) }

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"

	"klawbot/tools/params"
)

// New makes a tool of a function whose arguments are a struct.
//
// The fields of A are the parameters: json tags name them, omitempty makes them
// optional, and the tags default, min, max and enum ("a,b") bound them. NAME.en.md and
// NAME.ru.md of texts hold what the model reads, then a list of the parameters. A
// missing file or parameter panics, so that the tests of the family find it.
func New[A any](spec Spec, texts fs.FS, run func(ctx context.Context, c Call, args A) Result) Tool {
	s, err := params.Of(reflect.TypeFor[A]())
	if err == nil {
		spec.Texts, err = readTexts(texts, spec.Name, s)
	}
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", spec.Name, err))
	}
	return function{spec, func(ctx context.Context, c Call) Result {
		var args A
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return Fail(Validation, "arguments of "+spec.Name+": "+err.Error())
		}
		return run(ctx, c, args)
	}}
}

// function is a tool made of a function.
type function struct {
	spec Spec
	run  func(context.Context, Call) Result
}

func (f function) Spec() Spec { return f.spec }

func (f function) Run(ctx context.Context, c Call) Result { return f.run(ctx, c) }

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
)

// New makes a tool of a function whose arguments are a struct.
//
// The fields of A are the parameters: json tags name them, omitempty makes them
// optional, and the tags default, min, max and enum ("a,b") bound them. The
// texts come from the files NAME.en.md and NAME.ru.md of texts: what the model
// reads first, then a list of the parameters. A file or parameter that is
// missing is a programmer's mistake and panics, so that it cannot leave the
// tests of the family.
func New[A any](spec Spec, texts fs.FS, run func(ctx context.Context, c Call, args A) Result) Tool {
	s, err := schemaOf(reflect.TypeFor[A]())
	if err == nil {
		spec.Texts, err = readTexts(texts, spec.Name, s)
	}
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", spec.Name, err))
	}
	return &typed[A]{spec: spec, run: run}
}

type typed[A any] struct {
	spec Spec
	run  func(context.Context, Call, A) Result
}

func (t *typed[A]) Spec() Spec { return t.spec }

func (t *typed[A]) Run(ctx context.Context, c Call) Result {
	var args A
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return Fail(Validation, "arguments of "+t.spec.Name+": "+err.Error())
	}
	return t.run(ctx, c, args)
}

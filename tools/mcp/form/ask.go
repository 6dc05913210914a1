package form

import (
	"context"

	"klawbot/tools"
)

// Ask asks for the fields of the form. The content is what the server gets when the
// outcome is Answered. A form that can be left as it is is looked at whole first.
func (f Form) Ask(ctx context.Context, ask func(context.Context, tools.Question) (tools.Reply, error)) (content map[string]any, outcome tools.Outcome, err error) {
	content = map[string]any{}
	if len(f) == 0 {
		r, err := ask(ctx, tools.Question{Options: []tools.Option{{Word: tools.WordYes}}})
		return content, r.Outcome, err
	}
	if f.optional() && len(f) > 1 {
		r, err := ask(ctx, tools.Question{Field: f.defaults(), Options: []tools.Option{{Word: tools.WordAsIs}, {Word: tools.WordChange}}})
		if err != nil || r.Outcome != tools.Answered {
			return nil, r.Outcome, err
		}
		if r.Option == 0 {
			for _, d := range f {
				d.keep(content)
			}
			return content, tools.Answered, nil
		}
	}
	for n, d := range f {
		q := d.question()
		if len(f) > 1 {
			q.Step, q.Steps = n+1, len(f)
		}
		if outcome, err := d.ask(ctx, ask, q, content); err != nil || outcome != tools.Answered {
			return nil, outcome, err
		}
	}
	return content, tools.Answered, nil
}

// ask asks for one field, and once more, with the reason, when the answer is not of
// its kind. It puts the value into content.
func (d field) ask(ctx context.Context, ask func(context.Context, tools.Question) (tools.Reply, error), q tools.Question, content map[string]any) (tools.Outcome, error) {
	for range 2 {
		r, err := ask(ctx, q)
		if err != nil || r.Outcome != tools.Answered {
			return r.Outcome, err
		}
		if q.Flaw, q.Bound = d.take(r, content); q.Flaw == "" {
			return tools.Answered, nil
		}
	}
	return tools.Cancelled, nil
}

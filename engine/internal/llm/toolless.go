package llm

import "slices"

// WithoutTools is a request for a model that cannot call tools: it offers none,
// and calls and results in its history are told in words.
func WithoutTools(r Request) Request {
	r.Tools, r.NoTools = nil, false
	msgs := make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		msgs[i] = inWords(m)
	}
	r.Messages = slices.DeleteFunc(msgs, func(m Message) bool { return len(m.Blocks) == 0 })
	return r
}

// inWords is a message without calls, or one of a user that quotes results.
func inWords(m Message) Message {
	out := Message{Role: m.Role}
	for _, b := range m.Blocks {
		switch {
		case b.Call != nil, b.Thinking != nil:
		case b.Result != nil:
			out.Role = RoleUser
			out.Blocks = append(out.Blocks, Block{Text: "(result of the tool " + b.Result.Name + ": " + b.Result.Text + ")"})
			for _, i := range b.Result.Images {
				out.Blocks = append(out.Blocks, Block{Image: &i})
			}
		default:
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out
}

package tools

// enclose is the step "sandbox": it gives a call its private scratch directory; release
// removes it when the call has ended. The tools that run commands confine them.
func (e *Executor) enclose(p *pass) (release func()) {
	s := &scratch{parent: e.scratch}
	p.call.scratch = s
	return func() {
		if err := s.wipe(); err != nil {
			e.log.Warn("scratch directory not removed", "call", p.call.ID, "tool", p.call.Name, "err", err)
		}
	}
}

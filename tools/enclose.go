package tools

// enclose is the step "sandbox": it gives a call what it runs in, and returns
// what takes that away when the call has ended. It is the private scratch folder;
// where the commands of a call are confined is known by the tools that run them.
func (e *Executor) enclose(p *pass) (release func()) {
	s := &scratch{parent: e.scratch}
	p.call.scratch = s
	return func() {
		if err := s.wipe(); err != nil {
			e.log.Warn("scratch folder not removed", "call", p.call.ID, "tool", p.call.Name, "err", err)
		}
	}
}

package tools

// Steering decides about a call that changes what steers the bot in every chat, such as
// a skill or a file of the system prompt. layer says what decides, what names the thing.
//
// An owner who speaks alone may. With text of others or untrusted content in the
// conversation the model may follow that, so an owner has to approve.
func (c Call) Steering(a Autonomy, layer, what string) Decision {
	if c.Owner && !c.Others && (!c.Heard || a == Full) {
		return Decision{Verdict: Allow}
	}
	return Decision{Verdict: Ask, Layer: layer, OwnerOnly: true, Reason: what + " steers the bot in every chat; an owner has to agree"}
}

// Steers reports whether a running call may change such a thing: an owner causes it, or
// has approved it. It is for things that turn out to steer only then.
func (c Call) Steers() bool {
	return c.Owner || c.Decided.Verdict == Ask && c.Decided.OwnerOnly
}

// SteersByCommand reports whether a running command may change such a thing. What it
// writes is not known before, so an owner who has heard others has to approve.
func (c Call) SteersByCommand() bool {
	return c.Owner && !c.Others && !c.Heard || c.Steers() && c.Decided.Verdict == Ask
}

package tools

// Steering decides about a call that changes what steers the bot in every chat, such as
// a skill or a file of the system prompt. layer says who decides, what names the thing.
//
// An owner who speaks alone may. In a conversation with text of others or from outside
// the model may follow their words, so that an owner has to agree.
func (c Call) Steering(a Autonomy, layer, what string) Decision {
	if c.Owner && !c.Others && (!c.Heard || a == Full) {
		return Decision{Verdict: Allow}
	}
	return Decision{Verdict: Ask, Layer: layer, OwnerOnly: true, Reason: what + " steers the bot in every chat; an owner has to agree"}
}

// Steers reports whether a call that runs may change such a thing: an owner causes
// it, or has agreed. It is for things that turn out to steer only then.
func (c Call) Steers() bool {
	return c.Owner || c.Decided.Verdict == Ask && c.Decided.OwnerOnly
}

// SteersByCommand reports whether a command that runs may change such a thing. Nobody
// sees before what it writes, so an owner who has heard others has to agree.
func (c Call) SteersByCommand() bool {
	return c.Owner && !c.Others && !c.Heard || c.Steers() && c.Decided.Verdict == Ask
}

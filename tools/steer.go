package tools

// Steering decides about a call that changes what steers the bot in every chat:
// a file that enters the system prompt, a skill, the bot's part of the core
// memory. layer says who decides, what names the thing.
//
// An owner who speaks alone may. Where the conversation holds what others said,
// or what a tool brought from outside, the model may follow somebody else's
// words, so that an owner has to agree.
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

// SteersByCommand reports whether a command or a program that runs may change such
// a thing. Nobody sees before what it writes, so that an owner who has heard others
// has to agree to the command.
func (c Call) SteersByCommand() bool {
	return c.Owner && !c.Others && !c.Heard || c.Steers() && c.Decided.Verdict == Ask
}

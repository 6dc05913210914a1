package wording

import (
	"fmt"
	"strings"
)

// The choices of a button; an option of a form is its number.
const (
	Once = "once"
	Hour = "hour"
	Deny = "no"
	// Decline and Cancel are of forms.
	Decline = "decline"
	Cancel  = "cancel"
)

const buttonPrefix = "ask/"

// ButtonData is the data of a button, well below the 64 bytes that a button has.
func ButtonData(token, choice string) string { return buttonPrefix + token + "/" + choice }

// ReadButton reads what ButtonData wrote.
func ReadButton(data string) (token, choice string, ok bool) {
	rest, ours := strings.CutPrefix(data, buttonPrefix)
	token, choice, ok = strings.Cut(rest, "/")
	return token, choice, ours && ok
}

// OptionWord stands for the button of an option where there are no buttons.
func OptionWord(n int) string { return fmt.Sprintf("(%d)", n+1) }

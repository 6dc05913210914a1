package sandbox

import (
	"crypto/rand"
	"os"
)

// passed are the variables of the bot's environment that a command sees.
var passed = []string{"PATH", "HOME", "LANG", "TERM", "TZ"}

// runVariable marks every process of one command. It is how processes are found
// that left the process group.
const runVariable = "KLAWBOT_RUN"

// environ is the environment of a command outside a sandbox.
func environ(run string, extra []string) []string {
	env := []string{runVariable + "=" + run}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, extra...)
}

// newRun is the name of one command's run.
func newRun() string { return "klawbot-run-" + rand.Text() }

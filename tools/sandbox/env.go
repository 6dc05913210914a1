package sandbox

import (
	"crypto/rand"
	"os"
)

// passed are the variables of the bot's environment that a command sees.
var passed = []string{"PATH", "HOME", "LANG", "TERM", "TZ"}

// insidePath is where commands in a sandbox are looked for.
const insidePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environ is the environment of a command outside a sandbox.
func environ(extra []string) []string { return append(pick(passed), extra...) }

// insideEnviron is the environment of a command in a sandbox, without HOME.
func insideEnviron() []string {
	return append(pick([]string{"LANG", "TERM", "TZ"}), "PATH="+insidePath)
}

// pick takes variables from the bot's environment.
func pick(names []string) (env []string) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// newRun is the name of one command's run.
func newRun() string { return runPrefix + rand.Text() }

const runPrefix = "klawbot-run-"

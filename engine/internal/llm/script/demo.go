package script

import _ "embed"

//go:embed demo.script
var demo string

// Demo is the built-in script: it answers a few plain phrases with real tool
// calls and says that it is a script whenever it is asked for anything else.
func Demo() *Script {
	s, err := Parse(demo)
	if err != nil {
		panic("demo script: " + err.Error()) // a programmer's mistake, tested
	}
	return s
}

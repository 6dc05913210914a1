package main

import "slices"

// edges are the cases of a test, such as the moments at which a bot is killed: some in
// make test, all of them in make test-long.
func edges(some []string, others ...string) []string {
	if long {
		return slices.Concat(some, others)
	}
	return some
}

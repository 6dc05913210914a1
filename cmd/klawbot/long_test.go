//go:build long

package main

// long says that the long forms of tests run (make test-long).
const long = true

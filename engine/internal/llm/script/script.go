// Package script is a model that follows a script: for the demo and for tests.
package script

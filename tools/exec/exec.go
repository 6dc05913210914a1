// Package exec holds the tools that run programs: shell, shell_manage and
// code_execute.
//
// What a command line would run is said by package command, and where it runs
// by package sandbox. This package decides about neither: it puts the owner's
// settings to the one and the result into the other.
package exec

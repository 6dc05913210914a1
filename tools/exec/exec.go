// Package exec holds the tools that run programs: shell, shell_manage and code_execute.
//
// Package command says what a command line would run, package sandbox runs it. This
// package compares the former with the owner's settings and hands it to the latter.
package exec

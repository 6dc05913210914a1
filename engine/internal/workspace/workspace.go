// Package workspace reads the workspace folder and builds the system prompt from it.
package workspace

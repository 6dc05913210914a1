// Package file holds the tools that read and write files in the workspace.
package file

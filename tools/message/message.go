// Package message holds the tools that send messages and tell the time.
package message

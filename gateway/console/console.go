// Package console makes a terminal a channel, also over the data folder's socket.
package console

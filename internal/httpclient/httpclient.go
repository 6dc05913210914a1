// Package httpclient is the one place where an http.Client is made.
package httpclient

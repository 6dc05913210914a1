// Package sdktest lets the official SDKs of OpenAI and Anthropic judge: they
// read the requests of our clients as their own, and our fake model answers
// them. It holds tests only.
package sdktest

// Package openai speaks the chat completions protocol of OpenAI and of everything that imitates it.
package openai

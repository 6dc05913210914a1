// Package telegram speaks with Telegram: it polls, decodes, renders, paces and sends.
package telegram

// Package telegramtest is a strict fake of the Telegram Bot API for tests.
package telegramtest

// Package modeltest is a scripted fake of the model APIs for tests.
package modeltest

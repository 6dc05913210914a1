// Command klawbot is a self-hosted assistant that people talk to in Telegram.
//
// It holds the command line, the configuration and the wiring; everything it
// does is done by the packages that it wires.
package main

func main() {}

package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// serveMCP is an MCP server on standard input and output with one tool, echo,
// whose description is in the file $ABOUT.
func serveMCP() {
	about, err := os.ReadFile(os.Getenv("ABOUT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	description, _ := json.Marshal(string(about)) // a string
	for in := json.NewDecoder(os.Stdin); ; {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments struct{ Text string } }
		}
		if in.Decode(&m) != nil {
			return
		}
		said, _ := json.Marshal("you said: " + m.Params.Arguments.Text) // a string
		switch {
		case m.ID == nil:
		case m.Method == "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}}`+"\n", m.ID)
		case m.Method == "tools/list":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","description":%s,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}}`+"\n", m.ID, description)
		case m.Method == "tools/call":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", m.ID, said)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
		}
	}
}

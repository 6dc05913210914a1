package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// fromClient is a message of the client: a request, a note or an answer.
type fromClient struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments struct{ Text string }
	}
	Result json.RawMessage
}

// serveMCP is an MCP server on standard input and output with one tool, echo,
// whose description is in the file $ABOUT. With a file $FORM it has the tool
// survey, too, which asks the person for the form in it, or to open the page whose
// address it is, and writes what it gets to $FORM.got. With $PIDS it starts a program of its own and writes both process
// ids to that file.
func serveMCP() {
	about, err := os.ReadFile(os.Getenv("ABOUT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if file := os.Getenv("PIDS"); file != "" {
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := os.WriteFile(file, fmt.Appendf(nil, "%d %d\n", os.Getpid(), child.Process.Pid), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	description, _ := json.Marshal(string(about)) // a string
	listed := fmt.Sprintf(`{"name":"echo","description":%s,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`, description)
	if os.Getenv("FORM") != "" {
		listed += `,{"name":"survey","description":"Asks.","inputSchema":{"type":"object"}}`
	}
	answer := func(id json.RawMessage, result string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
	}
	for in := json.NewDecoder(os.Stdin); ; {
		var m fromClient
		if in.Decode(&m) != nil {
			return
		}
		switch {
		case m.ID == nil:
		case m.Method == "initialize":
			answer(m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}`)
		case m.Method == "tools/list":
			answer(m.ID, `{"tools":[`+listed+`]}`)
		case m.Method == "tools/call" && m.Params.Name == "survey":
			if !askClient(in) {
				return
			}
			answer(m.ID, `{"content":[{"type":"text","text":"thank you"}]}`)
		case m.Method == "tools/call" && m.Params.Arguments.Text == "nothing": // it does not answer
		case m.Method == "tools/call":
			said, _ := json.Marshal("you said: " + m.Params.Arguments.Text) // a string
			answer(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, said))
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
		}
	}
}

// askClient asks for the form and keeps what comes back. It reports false when
// the client is gone.
func askClient(in *json.Decoder) bool {
	form, err := os.ReadFile(os.Getenv("FORM"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	plain, _ := json.Marshal(json.RawMessage(form)) // in one line
	asks := `"requestedSchema":` + string(plain)
	if strings.HasPrefix(string(plain), `"`) {
		asks = `"mode":"url","elicitationId":"e1","url":` + string(plain)
	}
	fmt.Printf(`{"jsonrpc":"2.0","id":"survey","method":"elicitation/create","params":{"message":"Please fill this in.",%s}}`+"\n", asks)
	for {
		var m fromClient
		if in.Decode(&m) != nil {
			return false
		}
		if string(m.ID) == `"survey"` {
			return os.WriteFile(os.Getenv("FORM")+".got", append(m.Result, '\n'), 0o600) == nil
		}
	}
}

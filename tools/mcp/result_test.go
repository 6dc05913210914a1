package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"klawbot/tools"
)

// TestLargeFilesAreLeftOut: the model is told, and nothing goes to the chat.
func TestLargeFilesAreLeftOut(t *testing.T) {
	picture := &sdk.ImageContent{Data: make([]byte, maxFileBytes+1), MIMEType: "image/png"}
	r := result(tools.Call{}, &sdk.CallToolResult{Content: []sdk.Content{picture}})
	if r.Output != "[image, image/png, 10485761 bytes; left out: too large]" || len(r.Artifacts) > 0 {
		t.Errorf("%+v", r)
	}
}

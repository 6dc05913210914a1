package openai_test

import (
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/openai"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
)

// BenchmarkStream is one whole streamed answer over a real socket, the fake's
// own work included.
func BenchmarkStream(b *testing.B) {
	s := modeltest.Start(canary)
	defer s.Close()
	client, err := openai.New(llm.Config{Provider: "p", APIKey: canary, BaseURL: s.URL + "/v1", HTTP: httpclient.New(httpclient.Options{})})
	if err != nil {
		b.Fatal(err)
	}
	r := ask(true)
	for range 20 {
		r.Messages = append(r.Messages, llm.Text(llm.RoleAssistant, "a line of the history"), llm.Text(llm.RoleUser, "and one of the user"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Stream(b.Context(), r, quiet); err != nil {
			b.Fatal(err)
		}
	}
}

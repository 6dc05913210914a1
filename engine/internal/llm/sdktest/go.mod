// The official SDKs of OpenAI and Anthropic judge our wire clients here. This
// is a module of its own, so that they are no part of the program.
module klawbot/engine/internal/llm/sdktest

go 1.26.5

require (
	github.com/google/go-cmp v0.7.0
	github.com/openai/openai-go/v3 v3.99.0
	klawbot v0.0.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/tmaxmax/go-sse v0.12.0 // indirect
)

replace klawbot => ../../../..

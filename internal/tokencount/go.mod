// Counts tokens with a real vocabulary, for benchmarks. A module of its own, so that the
// vocabulary is no part of the program.
module klawbot/internal/tokencount

go 1.26.5

require github.com/tiktoken-go/tokenizer v0.10.0

require github.com/dlclark/regexp2/v2 v2.5.1 // indirect

package protocol

import (
	"encoding/json"
	"sync"

	"klawbot/engine/internal/llm"
)

// schemasKept bounds how many schemas are remembered.
const schemasKept = 1024

// Schemas are the parameters of tools in the dialects of endpoints. Every
// request declares the same tools again, so each schema is cleaned once. The
// zero value is ready, and may be used from several goroutines.
type Schemas struct {
	mu    sync.Mutex
	clean map[Dialect]map[string]json.RawMessage // guarded by mu; by the schema as it is
}

// Parameters is the schema of a tool in a dialect, never empty. It is shared:
// nobody may change it.
func (s *Schemas) Parameters(t llm.Tool, d Dialect) json.RawMessage {
	if len(t.Parameters) == 0 {
		return NoParameters
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if clean, ok := s.clean[d][string(t.Parameters)]; ok {
		return clean
	}
	if s.clean == nil {
		s.clean = map[Dialect]map[string]json.RawMessage{}
	}
	if s.clean[d] == nil || len(s.clean[d]) >= schemasKept {
		s.clean[d] = map[string]json.RawMessage{}
	}
	clean := Schema(t.Parameters, d)
	s.clean[d][string(t.Parameters)] = clean
	return clean
}

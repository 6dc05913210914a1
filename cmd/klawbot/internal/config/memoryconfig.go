package config

import (
	"cmp"
	"os"

	"klawbot/engine"
)

// Memory is how things are kept and found.
type Memory struct {
	Embedding  Embedding    `koanf:"embedding"`
	Chunk      Chunk        `koanf:"chunk"`
	Search     MemorySearch `koanf:"search"`
	AutoRecall AutoRecall   `koanf:"autoRecall"`
}

// Embedding is the sentence model that makes the vectors: "onnx", "openai" or
// "off".
type Embedding struct {
	Type     string `koanf:"type"`
	Model    string `koanf:"model"`
	Runtime  string `koanf:"runtime"`
	Path     string `koanf:"path"`
	Provider string `koanf:"provider"`
}

// Chunk says how texts are cut, in tokens.
type Chunk struct {
	Size    int `koanf:"size"`
	Overlap int `koanf:"overlap"`
}

// MemorySearch says how much is found, and how the two sides of the search come
// together: "score" or "rrf".
type MemorySearch struct {
	TopK   int    `koanf:"topK"`
	Fusion string `koanf:"fusion"`
}

// AutoRecall is what the model is reminded of without asking.
type AutoRecall struct {
	Enabled   bool    `koanf:"enabled"`
	TopK      int     `koanf:"topK"`
	MaxTokens int     `koanf:"maxTokens"`
	MinScore  float64 `koanf:"minScore"`
}

func defaultMemory() Memory {
	return Memory{
		Embedding:  Embedding{Type: "onnx", Model: engine.DefaultEmbedding, Provider: "openai"},
		Chunk:      Chunk{Size: 400, Overlap: 80},
		Search:     MemorySearch{TopK: 10, Fusion: "score"},
		AutoRecall: AutoRecall{Enabled: true, TopK: 3, MaxTokens: 400, MinScore: 0.5},
	}
}

// EngineMemory are the settings of the memory as the engine wants them.
func (c *Config) EngineMemory() engine.MemorySettings {
	m := c.Memory
	p := c.Models.Providers[m.Embedding.Provider]
	e := engine.Embedding{
		Type: m.Embedding.Type, Model: expandHome(m.Embedding.Model, os.Getenv),
		Runtime: expandHome(m.Embedding.Runtime, os.Getenv), Path: expandHome(m.Embedding.Path, os.Getenv),
	}
	if e.Type == "openai" {
		e.BaseURL, e.APIKey = cmp.Or(p.BaseURL, usualAddress[p.Type]), p.APIKey
	}
	return engine.MemorySettings{
		Embedding: e, ChunkSize: m.Chunk.Size, ChunkOverlap: m.Chunk.Overlap,
		TopK: m.Search.TopK, Fusion: m.Search.Fusion, AutoRecall: engine.AutoRecall(m.AutoRecall),
	}
}

// checkMemory looks at what several keys of the memory say together.
func checkMemory(c *Config, add func(key, format string, args ...any)) {
	m := c.Memory
	if m.Chunk.Overlap >= m.Chunk.Size {
		add("memory.chunk.overlap", "must be below memory.chunk.size (%d), got %d", m.Chunk.Size, m.Chunk.Overlap)
	}
	if _, ok := c.Models.Providers[m.Embedding.Provider]; m.Embedding.Type == "openai" && !ok {
		add("memory.embedding.provider", "must be one of models.providers (%s), got %q", names(c.Models.Providers), m.Embedding.Provider)
	}
	if m.Embedding.Model == "" && m.Embedding.Type != "off" {
		add("memory.embedding.model", "must name a model")
	}
}

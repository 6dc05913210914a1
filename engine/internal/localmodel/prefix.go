package localmodel

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"klawbot/engine/internal/llm"
)

// prefixes is the folder of what a model has read of requests: the system prompt and
// the tools, which all requests begin with. Reading them takes a processor a minute;
// loading what was read takes a second.
const prefixes = "prefixes"

// keptPrefixes bounds the files, which take 50 MB and more each.
const keptPrefixes = 2

// reused is the share of a prefix that must come from the file. On some models,
// restoring reports success and reuses nothing (ggml-org/llama.cpp#28194).
const reused = 0.9

// prefix is what a server has read at the beginning of requests.
type prefix struct {
	dir   string
	build string // identifies the program and the weights
	// reading has room for the request that reads; it guards now, the prefix in the slot.
	// It is no mutex, because a request that waits for another one may be stopped.
	reading chan struct{}
	now     *string
	// stuck says that what was read cannot be restored, so that unloading the model would
	// cost the whole time again.
	stuck *atomic.Bool
}

func newPrefix(c Config, s *server) prefix {
	return prefix{
		dir: filepath.Join(c.Dir, prefixes), build: fileMark(c.Program) + fileMark(c.Weights) + fmt.Sprint(s.window),
		reading: make(chan struct{}, 1), now: new(string), stuck: new(atomic.Bool),
	}
}

// fileMark tells a file from another one, or from an older one, without reading it.
func fileMark(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return name
	}
	return fmt.Sprint(name, info.Size(), info.ModTime().UnixNano())
}

// warm makes the server know the beginning of a request before it is sent: from a file,
// or by reading it once and keeping it. A fault costs time only: the request itself
// reads what is missing.
func (s *server) warm(ctx context.Context, r llm.Request, sink func(llm.Event)) {
	head, err := json.Marshal(struct {
		System string
		Tools  []llm.Tool
		Build  string
	}{r.System, r.Tools, s.prefix.build})
	if err != nil || r.System == "" {
		return
	}
	sum := sha256.Sum256(head)
	name := hex.EncodeToString(sum[:16])
	select {
	case s.prefix.reading <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-s.prefix.reading }()
	if *s.prefix.now == name {
		return
	}
	if s.prefix.useless(name) {
		s.prefix.stuck.Store(true)
		return
	}
	restored := s.slot(ctx, "restore", name) == nil
	share, err := s.read(ctx, r, sink)
	if err != nil {
		return
	}
	*s.prefix.now = name
	switch {
	case restored && share < reused:
		s.prefix.forget(name)
		s.prefix.stuck.Store(true)
	case !restored && s.slot(ctx, "save", name) == nil:
		s.prefix.tidy(name)
	}
}

// slot saves what the slot has read, or restores it.
func (s *server) slot(ctx context.Context, action, name string) error {
	if action == "restore" {
		if _, err := os.Stat(filepath.Join(s.prefix.dir, name)); err != nil {
			return err
		}
	}
	status, err := s.ask(ctx, http.MethodPost, "/slots/0?action="+action, s.key, map[string]string{"filename": name}, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("llama-server answered HTTP %d", status)
	}
	return err
}

// read lets the model read the beginning of a request and nothing else, and tells how
// far it is. It returns which share of it was known.
func (s *server) read(ctx context.Context, r llm.Request, sink func(llm.Event)) (share float64, err error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var tools []tool
	for _, t := range r.Tools {
		tools = append(tools, tool{"function", function{t.Name, t.Description, t.Parameters}})
	}
	response, err := s.send(ctx, http.MethodPost, "/v1/chat/completions", s.key, map[string]any{
		"messages": []map[string]string{{"role": "system", "content": r.System}, {"role": "user", "content": ""}},
		"tools":    tools, "max_tokens": 1, "cache_prompt": true, "id_slot": 0, "stream": true, "return_progress": true,
	})
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	known, total := 0, 0
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		var chunk struct {
			Progress struct {
				Total     int `json:"total"`
				Processed int `json:"processed"`
			} `json:"prompt_progress"`
			Timings struct {
				Known int `json:"cache_n"`
				Read  int `json:"prompt_n"`
			} `json:"timings"`
		}
		if !ok || json.Unmarshal([]byte(text), &chunk) != nil {
			continue
		}
		if p := chunk.Progress; p.Total > 0 {
			sink(llm.Event{Reading: float64(p.Processed) / float64(p.Total)})
		}
		if t := chunk.Timings; t.Known+t.Read > 0 {
			known, total = t.Known, t.Known+t.Read
		}
	}
	if total == 0 {
		return 0, errors.Join(fmt.Errorf("llama-server answered HTTP %d", response.StatusCode), lines.Err())
	}
	return float64(known) / float64(total), nil
}

// A file with this suffix stands for a prefix that cannot be restored.
const uselessSuffix = ".useless"

func (p prefix) useless(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name+uselessSuffix))
	return err == nil
}

// forget deletes a prefix that is not reused, and remembers that.
func (p prefix) forget(name string) {
	_ = os.Remove(filepath.Join(p.dir, name)) // it costs space, nothing else
	_ = os.WriteFile(filepath.Join(p.dir, name+uselessSuffix), nil, 0o600)
}

// tidy keeps the newest prefixes. Marks of useless ones take no room and stay.
func (p prefix) tidy(newest string) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), uselessSuffix) })
	for len(entries) > keptPrefixes {
		oldest := -1
		for i, e := range entries {
			if e.Name() != newest && (oldest < 0 || older(e, entries[oldest])) {
				oldest = i
			}
		}
		_ = os.Remove(filepath.Join(p.dir, entries[oldest].Name())) // it costs space, nothing else
		entries = append(entries[:oldest], entries[oldest+1:]...)
	}
}

func older(a, b os.DirEntry) bool {
	ai, aerr := a.Info()
	bi, berr := b.Info()
	return aerr == nil && berr == nil && ai.ModTime().Before(bi.ModTime())
}

package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/probe"
	"klawbot/engine/settings"
)

const (
	// doctorTimeout bounds the examination from a chat.
	doctorTimeout = 2 * time.Minute
	// minSpace is the free space in bytes below which the bot should not write.
	minSpace = 100 << 20
)

// Finding is what an examination says about one part. Its JSON form is stable.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// Fix is a command or a step that mends it, empty when it is well.
	Fix string `json:"fix,omitempty"`
}

// Well is the finding about a part that works.
func Well(name, format string, args ...any) Finding {
	return Finding{Name: name, OK: true, Text: fmt.Sprintf(format, args...)}
}

// Ill is the finding about a part that does not.
func Ill(name, fix string, err error) Finding {
	return Finding{Name: name, Text: err.Error(), Fix: fix}
}

// FreeSpace is how many bytes are left for a folder.
func FreeSpace(dir string) (uint64, error) { return sqlite.FreeSpace(dir) }

// Doctor proves the parts that are the engine's: each page of the database, the
// space for it, the memory with something to remember and forget, and the model
// with a tool. Beside a running bot it changes nothing else.
func Doctor(ctx context.Context, c toolset.Config) []Finding {
	all := append(databaseFindings(ctx, c), memoryFindings(ctx, c)...)
	all = append(all, promptFindings(workspace.Open(c.Workspace, slog.New(slog.DiscardHandler)), toolset.Skills(c))...)
	all = append(all, serverFindings(ctx, c)...)
	return append(all, modelFinding(ctx, c))
}

// Running is a bot that runs, as an examination from inside sees it.
type Running struct {
	toolset.Config
	Store     *store.Store
	Set       *toolset.Set
	Workspace *workspace.Workspace
	// Around looks at the parts around the engine; nil looks at none.
	Around func(context.Context) []Finding
}

// Doctor is the answer to /doctor: the findings about the bot and those about the
// parts around it.
func (r Running) Doctor(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	all := []Finding{databaseFinding(ctx, r.Store), spaceFinding(r.Dir), memoryFinding(ctx, r.Set.Memory, r.Store, r.Settings().Memory.Embedding)}
	all = append(all, promptFindings(r.Workspace, r.Set.Skills)...)
	if r.Around != nil {
		all = append(all, r.Around(ctx)...)
	}
	for _, s := range r.Set.Servers.Statuses() {
		all = append(all, ServerFinding(s))
	}
	all = append(all, modelFinding(ctx, r.Config))
	var lines []string
	for _, f := range all {
		mark := "✓"
		if !f.OK {
			mark = "✗"
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", mark, f.Name, f.Text))
		if f.Fix != "" {
			lines = append(lines, "→ "+f.Fix)
		}
	}
	return locale.CodeBlock(r.Redact.Text(strings.Join(lines, "\n")))
}

// promptFindings say what is kept out of the prompt, none when nothing is.
func promptFindings(w *workspace.Workspace, s *workspace.Skills) []Finding {
	left := w.LeftOut()
	skills, err := s.Check()
	for _, k := range skills {
		if err == nil && k.Refused {
			left = append(left, fmt.Sprintf("skills/%s (%s)", k.Folder, k.Fault))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return []Finding{Ill("prompt", "klawbot screen < FILE says what is found; write it in other words",
		fmt.Errorf("left out of the prompt: %s", strings.Join(left, "; ")))}
}

func databaseFindings(ctx context.Context, c toolset.Config) []Finding {
	space := spaceFinding(c.Dir)
	st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return []Finding{Well("database", "new: the first klawbot run or klawbot chat makes it"), space}
	case err != nil:
		return []Finding{Ill("database", "klawbot run restores the newest backup of a damaged database, klawbot reindex builds one from the conversation logs", err), space}
	}
	defer func() { _ = st.Close() }() // it was only read
	return []Finding{databaseFinding(ctx, st), space}
}

// databaseFinding reads every page of the database.
func databaseFinding(ctx context.Context, st *store.Store) Finding {
	if c := st.Condition(); c.State != store.StateOK {
		return Ill("database", remedy(c.State), errors.New(c.Fault))
	}
	started := time.Now()
	if err := st.Check(ctx); err != nil {
		return Ill("database", remedy(store.StateDamaged), err)
	}
	in, out, err := Queues(ctx, st)
	if err != nil {
		return Ill("database", "klawbot run", err)
	}
	return Well("database", "every page is in order (%s); %d in, %d out waiting", time.Since(started).Round(time.Millisecond), in.Waiting, out.Waiting)
}

// remedy is what to do about a database in a state.
func remedy(s store.State) string {
	switch s {
	case store.StateFull:
		return "free some space; the bot goes on by itself"
	case store.StateReadOnly, store.StateFailing:
		return "look at the disk and its mount (dmesg, mount); the bot goes on by itself"
	}
	return "restart the bot: it restores the newest good backup; klawbot reindex, before the start, brings back what was said since, also without a backup"
}

func spaceFinding(dir string) Finding {
	free, err := FreeSpace(dir)
	switch {
	case err != nil:
		return Ill("space", "df "+dir, err)
	case free < minSpace:
		return Ill("space", "df "+dir, fmt.Errorf("only %d MiB are left in %s", free>>20, dir))
	}
	return Well("space", "%.1f GiB free in %s", float64(free)/(1<<30), dir)
}

// modelFinding makes a model call with a tool.
func modelFinding(ctx context.Context, c toolset.Config) Finding {
	models := c.Settings().Models
	m, ok := models.Entries[models.Default]
	if !ok {
		return Finding{Name: "model", Text: "none, so the bot answers commands only", Fix: "klawbot init sets one up"}
	}
	started := time.Now()
	calls, err := ProbeTools(ctx, c.HTTP, m)
	if err != nil {
		return Ill("model", "check the network and models in config.yaml", fmt.Errorf("%s at %s: %w", m.Name, m.Provider, err))
	}
	took := time.Since(started).Round(time.Millisecond)
	if !calls {
		return Ill("model", "name a model that calls tools: klawbot init, or models in config.yaml",
			fmt.Errorf("%s at %s answers in %s, but it did not call the tool that it was offered: it can talk and do nothing", m.Name, m.Provider, took))
	}
	return Well("model", "%s at %s answers in %s; calls tools", m.Name, m.Provider, took)
}

// clockTool is what the model is asked to call. Its result is made up: the call
// is the proof.
var clockTool = llm.Tool{
	Name: "current_time", Description: "Tells the current date and time.",
	Parameters: []byte(`{"type":"object","properties":{}}`),
}

// probeTokens bounds the answers of ProbeTools; a thinking model needs some.
const probeTokens = 1024

// ProbeTools asks a model a question for which it needs a tool, gives it the
// tool's result and reads its answer. calls reports whether it called; a model
// that only answers did not. Errors are as of Probe.
func ProbeTools(ctx context.Context, client *http.Client, m settings.Model) (calls bool, err error) {
	provider, err := model.NewProvider(m, client, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	request := llm.Request{
		Model: m.Name, MaxTokens: min(cmp.Or(m.MaxTokens, probeTokens), probeTokens), Tools: []llm.Tool{clockTool},
		Messages: []llm.Message{llm.Text(llm.RoleUser, "Which time is it? Call the tool current_time, then answer in one line.")},
	}
	first, err := provider.Stream(ctx, request, func(llm.Event) {})
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.Unsupported {
		_, err = probe.Ask(ctx, client, m)
		return false, err
	}
	if err != nil {
		return false, probe.Explain(m, err)
	}
	made := first.Message.Calls()
	if len(made) == 0 {
		if strings.TrimSpace(first.Message.PlainText()) == "" {
			return false, errors.New("it answered without a word; try again, or name another model")
		}
		return false, nil
	}
	results := llm.Message{Role: llm.RoleTool}
	for _, c := range made {
		results.Blocks = append(results.Blocks, llm.Block{Result: &llm.ToolResult{
			CallID: c.ID, Name: c.Name, Text: time.Now().UTC().Format(time.RFC1123),
		}})
	}
	request.Messages = append(request.Messages, first.Message, results)
	second, err := provider.Stream(ctx, request, func(llm.Event) {})
	if err != nil {
		return false, probe.Explain(m, err)
	}
	if strings.TrimSpace(second.Message.PlainText()) == "" {
		return false, errors.New("it called a tool, but said nothing about the result; try again, or name another model")
	}
	return true, nil
}

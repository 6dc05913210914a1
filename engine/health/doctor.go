package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/localmodel"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
	"klawbot/engine/internal/toolset"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/probe"
	"klawbot/engine/settings"
	"klawbot/internal/advice"
	"klawbot/tools"
	"klawbot/tools/mcp"
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
	// OK is false when the part is broken, and only then.
	OK    bool   `json:"ok"`
	State State  `json:"state"`
	Text  string `json:"text"`
	// Fix is the next step: a command, or what to change. Empty when the part works.
	Fix string `json:"fix,omitempty"`
}

// State is how a part is.
type State string

// The states of parts.
const (
	StateOK      State = "ok"
	StateOff     State = "off"
	StateLimited State = "limited"
	StateBroken  State = "broken"
)

// Mark shows the state of a part: works, off, works with limits, broken.
func (f Finding) Mark() string {
	return map[State]string{StateOK: "✓", StateOff: "–", StateLimited: "!", StateBroken: "✗"}[f.State]
}

// Line is a part in one line, with the next step.
func (f Finding) Line() string {
	text := fmt.Sprintf("%s %-10s %s", f.Mark(), f.Name, f.Text)
	if f.Fix != "" {
		text += " → " + f.Fix
	}
	return text
}

// OK is the finding about a part that works.
func OK(name, format string, args ...any) Finding {
	return Finding{Name: name, OK: true, State: StateOK, Text: fmt.Sprintf(format, args...)}
}

// Off is the finding about a part that is not used, with what turns it on.
func Off(name, fix, text string) Finding {
	return Finding{Name: name, OK: true, State: StateOff, Text: text, Fix: fix}
}

// Limited is the finding about a part that works in part, with what completes it.
func Limited(name, fix, text string) Finding {
	return Finding{Name: name, OK: true, State: StateLimited, Text: text, Fix: fix}
}

// Broken is the finding about a part that does not work.
func Broken(name, fix string, err error) Finding {
	return Finding{Name: name, State: StateBroken, Text: err.Error(), Fix: fix}
}

// FreeSpace is how many bytes are left for a folder.
func FreeSpace(dir string) (uint64, error) { return sqlite.FreeSpace(dir) }

// Doctor checks the engine's parts: each page of the database, the space for it, the
// memory with something to remember and forget, and the model with a tool. It works
// beside a running bot.
func Doctor(ctx context.Context, c toolset.Config) []Finding {
	all := append(databaseFindings(ctx, c), memoryFindings(ctx, c)...)
	all = append(all, promptFindings(workspace.Open(c.Workspace, slog.New(slog.DiscardHandler)), toolset.Skills(c))...)
	all = append(all, readingFinding(ctx, c.Settings().Media.Documents, c.Assets), hearingFinding(ctx, c), speakingFinding(ctx, c))
	all = append(all, serverFindings(ctx, c)...)
	return append(all, modelFindings(ctx, c)...)
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
	all = append(all, readingFinding(ctx, r.Settings().Media.Documents, r.Assets), hearingFinding(ctx, r.Config), speakingFinding(ctx, r.Config))
	all = append(all, PolicyFindings(r.Set, r.Settings())...)
	if r.Around != nil {
		all = append(all, r.Around(ctx)...)
	}
	for _, s := range r.Set.Servers.Statuses() {
		all = append(all, ServerFinding(s))
	}
	all = append(all, modelFindings(ctx, r.Config)...)
	var lines []string
	for _, f := range all {
		lines = append(lines, fmt.Sprintf("%s %s: %s", f.Mark(), f.Name, f.Text))
		if f.Fix != "" {
			lines = append(lines, "→ "+f.Fix)
		}
	}
	return locale.CodeBlock(advice.Text(r.Redact.Text(strings.Join(lines, "\n"))))
}

// PolicyFindings are the names in the policy that no tool has.
func PolicyFindings(s *toolset.Set, c settings.Settings) (all []Finding) {
	for _, name := range s.UnknownTools(c) {
		all = append(all, Broken("policy", "klawbot tools list shows the names; correct tools.policy or tools.rules in config.yaml", fmt.Errorf("there is no tool %s", name)))
	}
	return all
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
	return []Finding{Broken("prompt", "klawbot screen < FILE says what is found; write it in other words",
		fmt.Errorf("left out of the prompt: %s", strings.Join(left, "; ")))}
}

func databaseFindings(ctx context.Context, c toolset.Config) []Finding {
	space := spaceFinding(c.Dir)
	st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return []Finding{OK("database", "new: the first klawbot run or klawbot chat makes it"), space}
	case err != nil:
		return []Finding{Broken("database", "klawbot run restores the newest backup of a damaged database, klawbot reindex builds one from the conversation logs", err), space}
	}
	defer func() { _ = st.Close() }() // it was only read
	return []Finding{databaseFinding(ctx, st), space}
}

func databaseFinding(ctx context.Context, st *store.Store) Finding {
	if c := st.Condition(); c.State != condition.OK {
		return Broken("database", fixOf(c.State), errors.New(c.Fault))
	}
	started := time.Now()
	if err := st.Check(ctx); err != nil {
		return Broken("database", fixOf(condition.Damaged), err)
	}
	in, out, err := Queues(ctx, st)
	if err != nil {
		return Broken("database", "klawbot run", err)
	}
	return OK("database", "integrity check passed (%s); %d in, %d out waiting", time.Since(started).Round(time.Millisecond), in.Waiting, out.Waiting)
}

// fixOf is what to do about a database in a state.
func fixOf(s condition.State) string {
	switch s {
	case condition.Full:
		return "free some space; the bot then resumes by itself"
	case condition.ReadOnly, condition.Failing:
		return "look at the disk and its mount (dmesg, mount); the bot then resumes by itself"
	}
	return "restart the bot: it restores the newest good backup; klawbot reindex, before the start, brings back the message history since, also without a backup"
}

func spaceFinding(dir string) Finding {
	free, err := FreeSpace(dir)
	switch {
	case err != nil:
		return Broken("space", "df "+dir, err)
	case free < minSpace:
		return Broken("space", "df "+dir, fmt.Errorf("only %d MiB are left in %s", free>>20, dir))
	}
	return OK("space", "%.1f GiB free in %s", float64(free)/(1<<30), dir)
}

func modelFindings(ctx context.Context, c toolset.Config) []Finding {
	main := modelFinding(ctx, c)
	all := append(OtherModels(ctx, c.HTTP, c.Settings().Models), main)
	if main.OK { // else the same would be said twice
		all = append(all, seeingFinding(ctx, c.HTTP, c.Settings()))
	}
	return all
}

// managedFinding checks the files of a model of this machine. A second one beside the
// running bot's would take its memory.
func managedFinding(dir string, m settings.Model) Finding {
	if err := localmodel.Check(localmodel.Find(dir, m.Local.Program, m.Name)); err != nil {
		fix := "correct models in config.yaml, or: klawbot assets pull --llm list"
		if _, unknown := localmodel.Lookup(m.Name); unknown == nil && m.Local.Program == "" {
			fix = "klawbot assets pull --llm " + m.Name
		}
		return Broken("model", fix, err)
	}
	return OK("model", "%s on this machine; it loads with the first message", m.Name)
}

func modelFinding(ctx context.Context, c toolset.Config) Finding {
	models := c.Settings().Models
	m, ok := models.Entries[models.Default]
	if !ok {
		return Off("model", "klawbot model", "none: commands, notes and reminders work")
	}
	if m.Type == model.Managed {
		return managedFinding(c.Dir, m)
	}
	started := time.Now()
	calls, err := ProbeTools(ctx, c.HTTP, m)
	if err != nil {
		return Broken("model", "check the network and models in config.yaml", fmt.Errorf("%s at %s: %w", m.Name, m.Provider, err))
	}
	took := time.Since(started).Round(time.Millisecond)
	if !calls {
		return Broken("model", "name a model that calls tools: klawbot model, or models in config.yaml",
			fmt.Errorf("%s at %s answers in %s, but it did not call the tool that it was offered: it can chat, but use no tools", m.Name, m.Provider, took))
	}
	return OK("model", "%s at %s answers in %s; calls tools", m.Name, m.Provider, took)
}

// OtherModels are those of models that the bot uses beside the default and that their
// servers do not know. It makes no completion.
func OtherModels(ctx context.Context, client *http.Client, models settings.Models) []Finding {
	names := slices.Compact(slices.Sorted(slices.Values(append([]string{models.Small}, models.Fallback...))))
	all := make([]Finding, len(names))
	var checks sync.WaitGroup
	for i, name := range names {
		m, known := models.Entries[name]
		if !known || name == models.Default {
			continue
		}
		checks.Go(func() {
			if err := probe.Check(ctx, client, m); err != nil {
				all[i] = Broken("model", "correct models.entries."+name+" in config.yaml", fmt.Errorf("%s (%s at %s): %w", name, m.Name, m.Provider, err))
			}
		})
	}
	checks.Wait()
	return slices.DeleteFunc(all, func(f Finding) bool { return f.Name == "" })
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
	for i, b := range first.Message.Blocks {
		if b.Call != nil {
			b.Call.ID = fmt.Sprintf("probe-%d", i) // a call without one is left out of requests
		}
	}
	made := first.Message.Calls()
	if len(made) == 0 {
		if strings.TrimSpace(first.Message.PlainText()) == "" {
			return false, errors.New("empty reply from the model; try again or choose another model")
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

// ServerFinding is what an examination says about an MCP server.
func ServerFinding(s mcp.Status) Finding {
	name := "mcp " + s.Name
	if s.State == mcp.Down {
		return Broken(name, "klawbot mcp list", errors.New(s.Error))
	}
	text := fmt.Sprintf("%s, %d tools in use", s.State, s.Count(mcp.Usable))
	if n := s.Count(mcp.Unaccepted) + s.Count(mcp.Changed); n > 0 {
		text += fmt.Sprintf(", %d wait for klawbot mcp approve %s", n, s.Name)
	}
	if s.Always && s.Count(mcp.Usable) > tools.MostAlways {
		text += fmt.Sprintf("; show: always is ignored for more than %d tools, models search for them", tools.MostAlways)
	}
	return OK(name, "%s", text)
}

// serverFindings connects to all MCP servers for a command, beside a running
// bot or without one.
func serverFindings(ctx context.Context, c toolset.Config) []Finding {
	if len(c.Settings().MCP) == 0 {
		return nil
	}
	st, err := store.OpenBeside(ctx, c.Store())
	switch {
	case err == nil:
		defer func() { _ = st.Close() }() // it was only read
	case !errors.Is(err, store.ErrNotFound):
		return []Finding{Broken("mcp", "klawbot run", err)}
	}
	h := toolset.NewHost(ctx, c, func() (*store.Store, error) { return st, err })
	defer h.Close()
	var all []Finding
	for _, s := range h.Probe(ctx) {
		all = append(all, ServerFinding(s))
	}
	return all
}

// memoryFinding checks that the memory stores, finds and forgets. A missing embedding
// model is not an error.
func memoryFinding(ctx context.Context, r *recall.Memory, db *store.Store, embedding settings.Embedding) Finding {
	started := time.Now()
	meaning, err := r.In(db).Probe(ctx)
	took := time.Since(started).Round(time.Millisecond)
	switch {
	case errors.Is(err, memory.ErrEmbed) && embedding.Type == "openai":
		return Broken("memory", "see memory.embedding in config.yaml; keyword search until then", err)
	case errors.Is(err, memory.ErrEmbed):
		return Broken("memory", "klawbot assets status, then klawbot assets pull; keyword search until then", err)
	case err != nil:
		return Broken("memory", "klawbot reindex", err)
	}
	facts, err := r.CoreFile().Facts()
	if err != nil {
		return Broken("memory", "fix that file; core memory is off until then", err)
	}
	if left := facts.LeftOut(); len(left) > 0 {
		return Broken("memory", "klawbot memory edit: write it in other words, or delete it",
			fmt.Errorf("no prompt gets %s of the core memory: it looks like an injection", some(left)))
	}
	text := fmt.Sprintf("stored, found and forgot a memory in %s", took)
	if advice := r.Advice(ctx, db); advice != "" {
		text = advice + "; " + text
	}
	if others := facts.Others(); len(others) > 0 {
		text = fmt.Sprintf("%q of the core memory is never read, only user, agent, chats and people; %s", others, text)
	}
	if left := r.FilesLeftOut(); len(left) > 0 {
		text = fmt.Sprintf("no search finds %s (larger than 1 MiB, or no ordinary file); %s", some(left), text)
	}
	model, why := r.Model()
	switch {
	case why != nil && embedding.Type == "onnx":
		return Limited("memory", "klawbot assets pull", strings.TrimSuffix(fmt.Sprintf("%s; %s", text, r.Text()), ": klawbot assets pull"))
	case why != nil:
		return OK("memory", "%s; %s", text, r.Text())
	case !meaning:
		return OK("memory", "%s with keyword search; nothing is embedded with %s yet", text, model)
	}
	return OK("memory", "%s; %s", text, r.Text())
}

func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// memoryFindings are those of a data directory while the bot runs, or without one.
func memoryFindings(ctx context.Context, c toolset.Config) []Finding {
	st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)})
	if errors.Is(err, store.ErrNotFound) {
		return []Finding{OK("memory", "new; %s", toolset.Memory(c, nil).Text())}
	}
	if err != nil {
		return nil // the database's own finding says it
	}
	defer func() { _ = st.Close() }() // the canary is gone already
	r := toolset.Memory(c, func() (*store.Store, error) { return st, nil })
	defer func() { _ = r.Close() }() // it was only tried
	r.Choose(ctx, st)
	return []Finding{memoryFinding(ctx, r, st, c.Settings().Memory.Embedding)}
}

// EmbeddingText says how the memory of a configuration searches in the texts that there
// are. It looks for the files of the model and loads nothing.
func EmbeddingText(ctx context.Context, c toolset.Config) string {
	r := toolset.Memory(c, nil)
	if st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)}); err == nil {
		r.Choose(ctx, st)
		_ = st.Close() // it was only read
	}
	return r.Text()
}

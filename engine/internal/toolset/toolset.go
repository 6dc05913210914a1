// Package toolset builds the tools of a bot and what they stand on, in one way for
// the engine and for the commands beside it. It calls no tool and asks nobody.
package toolset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/engine/internal/recall"
	"klawbot/engine/internal/schedule"
	"klawbot/engine/internal/sentfiles"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/voice"
	"klawbot/engine/internal/workspace"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/find"
	"klawbot/tools/guide"
	"klawbot/tools/job"
	"klawbot/tools/mcp"
	"klawbot/tools/media"
	"klawbot/tools/message"
	"klawbot/tools/near"
	recalltools "klawbot/tools/recall"
	"klawbot/tools/self"
	"klawbot/tools/web"
)

// Config is a bot without its engine: its folders, its gateway, its settings and the
// tools that come from outside.
type Config struct {
	// Dir is the data directory. It is made when it does not exist.
	Dir string
	// Workspace is the folder of the persona, the skills and the files. Required.
	Workspace string
	// Gateway is the way out. Required.
	Gateway *gateway.Gateway
	// Settings is asked for the settings as they are now. Required.
	Settings func() settings.Settings
	// Tools are the world's: files and whatever else cmd wires. The toolset adds its
	// own.
	Tools []tools.Tool
	// Sources offer further tools, which come and go while the bot runs.
	Sources []tools.Source
	// HTTP is the client for model providers. Required.
	HTTP *http.Client
	// Manual holds the pages that the tools docs_* read; without it there are
	// none of them. Skills are the skills that come with the program, one a
	// folder; nil is none.
	Manual, Skills fs.FS
	// Configuration is what the tools config and self_info show of the settings
	// and may change of them; without it there are neither.
	Configuration self.Configuration
	// Web is what the tools of the web need, but for the model that extracts; nil has
	// none of them.
	Web *web.Config
	// Paths are the files and folders of the bot, and Sandbox what commands run
	// in, for self_info; nil is none.
	Paths, Sandbox func() []self.Entry
	// OpenFile opens a file of the workspace for send_file; without it there is
	// no such tool.
	OpenFile func(path string) (file fs.File, refused *tools.Result)
	// Redact holds the known secrets. Required.
	Redact *redact.Set
	// Version is klawbot's own, for /status.
	Version string
	// Assets are folders that may hold the ONNX Runtime library and embedding
	// models, in the order in which they are looked at.
	Assets []string
	// LookEvery is how often a running bot looks for changes that are not announced:
	// those of a command, of the configuration, of files in the workspace, of the clock.
	// 0 means a second or less, and 10 seconds for memory files.
	LookEvery time.Duration
	// SignIn lets a person sign in at MCP servers that want it; zero: nobody
	// can here.
	SignIn mcp.SignIn
	// Log is required.
	Log *slog.Logger
}

// Store is what the database needs.
func (c Config) Store() store.Config {
	return store.Config{Dir: c.Dir, Redact: c.Redact, Log: c.Log}
}

// Hooks are what the tools ask of the one who has them.
type Hooks struct {
	// Open returns the database, or why there is none.
	Open func() (*store.Store, error)
	// Schedules keeps what is planned.
	Schedules *schedule.Editor
	// Model is the model that answers in a chat.
	Model func(ctx context.Context, chat string) (name string, m settings.Model)
	// Stats are how the bot is doing.
	Stats func(context.Context) ([]self.Entry, error)
	// Extract has a model take out of a text what a call asks; nil: no model does.
	Extract func(ctx context.Context, c tools.Call, question, text string) (string, error)
	// Look looks at a picture for a call; nil if no model can.
	Look func(ctx context.Context, c tools.Call, p media.Picture) tools.Result
	// ToolsChanged is told of accepted tools of an MCP server that are off,
	// SignInWanted of servers where somebody has to sign in; nil tells nobody.
	ToolsChanged func(server string, now []mcp.Definition)
	SignInWanted func(server string)
}

// Set is the tools of a bot and what they stand on.
type Set struct {
	Executor *tools.Executor
	Skills   *workspace.Skills
	Web      *web.Web // nil for none
	Servers  *mcp.Host
	Memory   *recall.Memory
}

// New builds the tools. They connect to nothing and open nothing yet.
func New(ctx context.Context, c Config, h Hooks) (*Set, error) {
	s := &Set{Skills: Skills(c), Servers: newHost(ctx, c, h), Memory: Memory(c, h.Open)}
	if c.Web != nil {
		lending := *c.Web
		lending.Extract = h.Extract
		s.Web = web.New(lending)
	}
	if err := s.register(c, s.own(c, h)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the MCP servers and the browser, and releases the embedding model.
func (s *Set) Close() error {
	s.Servers.Close()
	return errors.Join(s.Web.Close(), s.Memory.Close())
}

// Skills are the skills of a bot.
func Skills(c Config) *workspace.Skills {
	return workspace.NewSkills(c.Workspace, c.Dir, c.Skills, c.Log)
}

// Mouth is what speaks.
func Mouth(c Config) *voice.Mouth {
	return voice.New(voice.Config{Settings: c.Settings, Dirs: c.Assets, HTTP: c.HTTP, Log: c.Log})
}

// Memory is the memory of a bot, in the database that open returns.
func Memory(c Config, open func() (*store.Store, error)) *recall.Memory {
	return recall.New(recall.Config{
		Dir: c.Dir, Workspace: c.Workspace, Settings: c.Settings, Open: open,
		Manual: c.Manual, Assets: c.Assets, HTTP: c.HTTP, Redact: c.Redact, LookEvery: c.LookEvery, Log: c.Log,
	})
}

// own are the tools that need something of the bot itself.
func (s *Set) own(c Config, h Hooks) []tools.Tool {
	all := slices.Concat(
		message.New(message.Config{
			Door:     chats{c.Gateway, h.Open},
			Location: func() *time.Location { return c.Settings().Zone() },
			OpenFile: c.OpenFile,
			Speaker:  Mouth(c),
		}),
		guide.New(guide.Config{Manual: c.Manual, Skills: skills{s.Skills}, Search: s.Memory.SearchDocs}),
		recalltools.New(s.Memory),
		job.Tools(job.Config{Schedules: h.Schedules, Subagents: h.Schedules, Location: func() *time.Location { return c.Settings().Zone() }}),
	)
	if s.Web != nil {
		all = append(all, s.Web.Tools()...)
	}
	if c.OpenFile != nil {
		all = append(all, media.New(media.Config{OpenFile: c.OpenFile, Read: documentReader(c.Settings, c.Assets), Look: h.look})...)
	}
	if c.Configuration != nil {
		all = append(all, self.New(self.Config{Configuration: c.Configuration, Body: info{c, h}})...)
	}
	return all
}

// scratchFolder holds the scratch directorys of the calls that run, and scratchKept
// is how old one may become: no call takes so long, so its process was killed.
const (
	scratchFolder = "scratch"
	scratchKept   = 24 * time.Hour
)

// SweepScratch deletes the scratch directorys that a kill has left in a data directory.
func SweepScratch(data string) error {
	dir := filepath.Join(data, scratchFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, d := range entries {
		if info, gone := d.Info(); gone == nil && time.Since(info.ModTime()) > scratchKept {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, d.Name())))
		}
	}
	return err
}

// register puts the bot's own tools beside the world's, and makes the pipeline that
// runs them.
func (s *Set) register(c Config, own []tools.Tool) error {
	search := find.NewSearch(
		func(c tools.Call) []tools.Tool { return s.Executor.Offered(c) },
		s.Memory.Nearness,
		func() string { return c.Settings().Language },
	)
	registry, err := tools.NewRegistry(slices.Concat(own, c.Tools, []tools.Tool{search})...)
	if err != nil {
		return fmt.Errorf("register the tools: %w", err)
	}
	s.Executor = tools.NewExecutor(tools.ExecutorConfig{
		Policy:   func() tools.Policy { return c.Settings().Policy },
		Registry: registry, Sources: append(slices.Clip(c.Sources), s.Servers), SpillDir: filepath.Join(c.Dir, "spill"), Redact: c.Redact, Log: c.Log,
		Keep: sentfiles.In(c.Dir).Put, ScratchDir: filepath.Join(c.Dir, scratchFolder),
		MaxOutputChars: func() int { return c.Settings().MaxOutputChars },
	})
	return nil
}

// UnknownTools are the names in the policy that no tool has, each with those that were
// probably meant. A tool of an MCP server may be approved later. It reads what was
// approved, so the database must be open.
func (s *Set) UnknownTools(c settings.Settings) []string {
	var all []string
	registry := s.Executor.Registry()
	for _, name := range c.Policy.Names() {
		if _, _, known := registry.Find(name); !known && (len(c.MCP) == 0 || !strings.HasPrefix(name, "mcp_")) {
			all = append(all, name+near.DidYouMean(registry.Near(name)))
		}
	}
	return all
}

package exec

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/budget"
	"klawbot/tools/exec/command"
	"klawbot/tools/sandbox"
)

//go:embed shell*.md
var shellTexts embed.FS

// Mode says which commands the shell tool may run.
type Mode string

// The modes.
const (
	// ModeDeny runs none.
	ModeDeny Mode = "deny"
	// ModeAllowlist runs those of the list; about others a person is asked. It
	// is what an empty Mode means.
	ModeAllowlist Mode = "allowlist"
	// ModeFull runs every command that is not blocked, once a person has agreed
	// or when the autonomy is full.
	ModeFull Mode = "full"
)

// ShellSettings are what the owner may change while the bot runs.
type ShellSettings struct {
	Mode Mode
	// Harmless says that the list has the built-in harmless commands.
	Harmless bool
	// Allow is what else the list has.
	Allow []command.Pattern
	// Timeout is the deadline of a call that names none; 0 means 30 s.
	Timeout time.Duration
}

// ShellConfig is what NewShell needs.
type ShellConfig struct {
	// Workspace is the folder that commands run in. It may be missing: every
	// call looks again.
	Workspace string
	// Settings is asked at every call. Required.
	Settings func() ShellSettings
	// Runner is asked at every call for where commands run; nil: outside any
	// sandbox.
	Runner func() sandbox.Runner
	// Gate is closed while a harmless command runs outside the sandbox, so that no
	// command in it changes the files after they were checked; nil: there is no
	// sandbox.
	Gate *sandbox.Gate
	// ReadOnly names files of the workspace that a call may not change where its
	// commands run in a sandbox, or by a pattern of the owner; nil: none.
	ReadOnly func(tools.Call) []string
	// AllowHardlinks says that files with several names may be read unasked;
	// nil means that they may not.
	AllowHardlinks func() bool
	// Confines says that the system can confine what runs unasked outside a sandbox;
	// nil: sandbox.Confines. Where it cannot, each step is judged again as it starts,
	// as it is everywhere, and that is all.
	Confines func() bool
}

// Shell is the tools shell and shell_manage, with the commands that run in the
// background.
type Shell struct {
	config ShellConfig
	parsed atomic.Pointer[parsed]

	mu     sync.Mutex
	jobs   map[string]*job // by id; guarded by mu
	closed bool            // guarded by mu
	work   sync.WaitGroup  // the commands in the background
}

// NewShell returns the tools for commands. Close ends what runs in the
// background.
func NewShell(c ShellConfig) *Shell {
	if c.Runner == nil {
		c.Runner = sandbox.Off
	}
	if c.ReadOnly == nil {
		c.ReadOnly = noneReadOnly
	}
	if c.Gate == nil {
		c.Gate = new(sandbox.Gate)
	}
	if c.AllowHardlinks == nil {
		c.AllowHardlinks = func() bool { return false }
	}
	if c.Confines == nil {
		c.Confines = sandbox.Confines
	}
	return &Shell{config: c, jobs: map[string]*job{}}
}

func noneReadOnly(tools.Call) []string { return nil }

// shellArgs are the parameters of shell.
type shellArgs struct {
	Command    string `json:"command"`
	Workdir    string `json:"workdir,omitempty"`
	Timeout    int    `json:"timeout,omitempty" min:"1"`
	Background bool   `json:"background,omitempty" default:"false"`
}

// manageArgs are the parameters of shell_manage.
type manageArgs struct {
	Action string `json:"action" enum:"status,output,kill"`
	ID     string `json:"id,omitempty"`
}

// Tools returns the tools.
func (s *Shell) Tools() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: "shell", Group: tools.GroupRuntime, Changes: true, Dangerous: true, Outside: true,
			Aliases: []tools.Alias{
				{Name: "exec", Preset: map[string]any{"timeout": 180}},
				{Name: "shell_execute", Preset: map[string]any{"timeout": 60}},
				{Name: "run_command"},
			},
			Arguments:   map[string]string{"cwd": "workdir"},
			PreValidate: s.preValidate, Permit: s.permit, Watch: s.watch, TimeoutOf: s.timeout, Unconfined: s.unconfined,
		}, shellTexts, s.run),
		tools.New(tools.Spec{
			Name: "shell_manage", Group: tools.GroupRuntime, Outside: true,
		}, shellTexts, s.manage),
	}
}

// defaultTimeout is the deadline of a command without one.
const defaultTimeout = 30 * time.Second

// timeout is the deadline of a call.
func (s *Shell) timeout(arguments json.RawMessage) time.Duration {
	var args shellArgs
	if err := json.Unmarshal(arguments, &args); err == nil && args.Timeout > 0 {
		return time.Duration(min(args.Timeout, int(tools.MaxTimeout/time.Second))) * time.Second
	}
	if t := s.config.Settings().Timeout; t > 0 {
		return t
	}
	return defaultTimeout
}

// preValidate refuses commands that are invalid or blocked.
func (s *Shell) preValidate(c tools.Call, _ tools.Autonomy) *tools.Result {
	_, refusal := s.look(c.Arguments)
	return refusal
}

// layer is what a decision of the shell names: a key of the configuration.
const (
	layerMode  = "tools.exec.mode"
	layerAllow = "tools.exec.allow"
	// layerPreCheck is the step that takes the command apart.
	layerPreCheck = "pre-check"
)

// tooComplex is the reason to ask about a command that was not checked to its end.
var tooComplex = "The command is " + budget.ErrTooComplex.Error()

// unconfined reports whether commands run outside any sandbox now.
func (s *Shell) unconfined() bool { return s.config.Runner().Name() == sandbox.TypeOff }

// permit is the shell's own decision.
func (s *Shell) permit(c tools.Call, a tools.Autonomy) tools.Decision {
	v, refusal := s.look(c.Arguments)
	if refusal != nil {
		return tools.Decision{Verdict: tools.Deny, Layer: layerMode, Reason: refusal.Error}
	}
	unlisted := "Command not in approved list: " + v.unlisted
	switch {
	case v.mode == ModeDeny:
		return tools.Decision{Verdict: tools.Deny, Layer: layerMode, Reason: "All exec calls are blocked"}
	case v.line.TooComplex && (v.mode == ModeFull || a != tools.Full):
		return tools.Decision{Verdict: tools.Ask, Layer: layerPreCheck, Reason: tooComplex, Binds: v.binds, OnceOnly: tooComplex}
	case v.listed:
		return tools.Decision{Verdict: tools.Allow, Layer: layerAllow, Reason: "Command is in approved list"}
	case v.mode == ModeFull && a == tools.Full:
		return tools.Decision{Verdict: tools.Allow, Layer: layerMode, Reason: "All commands are allowed", Binds: v.binds, OnceOnly: v.once, Looks: v.line.Looks}
	case v.mode == ModeFull:
		return tools.Decision{Verdict: tools.Ask, Layer: "security.autonomy", Reason: "Tool requires approval", Binds: v.binds, OnceOnly: v.once, Looks: v.line.Looks}
	case a == tools.Full:
		return tools.Decision{Verdict: tools.Deny, Layer: layerAllow, Reason: unlisted}
	}
	return tools.Decision{Verdict: tools.Ask, Layer: layerAllow, Reason: unlisted, Binds: v.binds, OnceOnly: v.once, Looks: v.line.Looks}
}

// oneLine is a command in one line of bounded length, for a reason.
func oneLine(text string) string {
	const most = 200
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
	return clip.Runes(text, most)
}

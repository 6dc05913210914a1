package exec

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

//go:embed code_execute*.md
var codeTexts embed.FS

// CodeConfig is what NewCode needs.
type CodeConfig struct {
	// Workspace is the folder that programs run in. It may be missing: every
	// call looks again.
	Workspace string
	// Sandbox is asked at every call; nil, or one that is nil: there is none and
	// the tool is hidden.
	Sandbox func() *sandbox.Sandbox
	// ReadOnly names files of the workspace that a call may not change; nil: none.
	ReadOnly func(tools.Call) []string
}

// codeArgs are the parameters of code_execute.
type codeArgs struct {
	Language string `json:"language" enum:"python,bash"`
	Code     string `json:"code"`
	Timeout  int    `json:"timeout,omitempty" default:"30" min:"1"`
}

// language is how the programs of a language are run.
type language struct {
	file        string
	interpreter string
}

var languages = map[string]language{
	"python": {"main.py", "python3"},
	"bash":   {"main.sh", "bash"},
}

// NewCode returns the tool code_execute. It never runs outside a sandbox.
func NewCode(c CodeConfig) tools.Tool {
	if c.Sandbox == nil {
		c.Sandbox = func() *sandbox.Sandbox { return nil }
	}
	if c.ReadOnly == nil {
		c.ReadOnly = noneReadOnly
	}
	return tools.New(tools.Spec{
		Name: "code_execute", Group: tools.GroupRuntime, Changes: true, RequiresApproval: true, Outside: true,
		Aliases:     []tools.Alias{{Name: "sandbox_exec", Preset: map[string]any{"language": "bash"}}},
		Unavailable: c.unavailable, Permit: c.permit, Watch: c.watch,
		TimeoutOf: func(arguments json.RawMessage) time.Duration { return codeTimeout(arguments) + grace },
	}, codeTexts, c.run)
}

// grace is how long a sandbox may take to end a program after its timeout.
const grace = 15 * time.Second

func codeTimeout(arguments json.RawMessage) time.Duration {
	var a codeArgs
	if json.Unmarshal(arguments, &a) != nil || a.Timeout <= 0 {
		return defaultTimeout
	}
	return a.timeout()
}

func (a codeArgs) timeout() time.Duration {
	return time.Duration(min(a.Timeout, int((tools.MaxTimeout-grace)/time.Second))) * time.Second
}

func (c CodeConfig) unavailable() string {
	if c.Sandbox() == nil {
		return "code_execute needs a sandbox, and tools.sandbox.type is off or does not work here; klawbot doctor says why"
	}
	return ""
}

// permit allows code, which may run unknown files.
func (c CodeConfig) permit(tools.Call, tools.Autonomy) tools.Decision {
	return tools.Decision{Verdict: tools.Allow, Layer: "tools.sandbox", Reason: "Code runs in the sandbox", OnceOnly: tools.UnknownFiles}
}

func (c CodeConfig) watch(tools.Call) (state string, tooMany bool) {
	return watchedIn(c.Workspace, false)
}

// run runs the code of a call.
func (c CodeConfig) run(ctx context.Context, call tools.Call, a codeArgs) tools.Result {
	box := c.Sandbox()
	if box == nil {
		return tools.Fail(tools.PolicyDenied, c.unavailable())
	}
	if info, err := os.Stat(c.Workspace); err != nil || !info.IsDir() {
		return tools.Fail(tools.Execution, "No workspace set")
	}
	if strings.TrimSpace(a.Code) == "" {
		return tools.Fail(tools.Validation, "code is empty")
	}
	scratch, err := call.Scratch()
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	command, err := c.command(box, scratch, a)
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	command.ReadOnly = c.ReadOnly(call)
	out, err := box.Run(ctx, command)
	if err != nil {
		return tools.Fail(tools.Execution, "the code did not start: "+err.Error())
	}
	t := &transcript{}
	t.end(out)
	end := ending{code: out.ExitCode, timedOut: out.TimedOut, stopped: out.Stopped, broken: out.Broken}
	r := end.result("the code", t, out.Duration, out.Duration)
	if err := handOver(&r, filepath.Join(scratch, outputFolder)); err != nil {
		r.Output += "\n(" + err.Error() + ")"
	}
	return r
}

// outputFolder is the folder in the scratch directory whose files go to the chat.
const outputFolder = "output"

// command writes the code into the scratch directory, and says how it is run.
func (c CodeConfig) command(box *sandbox.Sandbox, scratch string, a codeArgs) (sandbox.Command, error) {
	l := languages[a.Language]
	code := sandbox.Bind{Host: filepath.Join(scratch, "code"), Inside: "/code"}
	output := sandbox.Bind{Host: filepath.Join(scratch, outputFolder), Inside: "/output", Writable: true}
	for _, b := range []sandbox.Bind{code, output} {
		if err := os.Mkdir(b.Host, 0o700); err != nil {
			return sandbox.Command{}, err
		}
	}
	if err := os.WriteFile(filepath.Join(code.Host, l.file), []byte(a.Code), 0o600); err != nil {
		return sandbox.Command{}, err
	}
	return sandbox.Command{
		Argv: []string{l.interpreter, filepath.Join(box.Place(code), l.file)},
		Dir:  c.Workspace, Binds: []sandbox.Bind{code, output}, Timeout: a.timeout(),
		Env: []string{"OUTPUT_DIR=" + box.Place(output), "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"},
	}, nil
}

// maxOutputEntries bounds how many names in the output directory are checked.
const maxOutputEntries = 1000

// errManyFiles stops the walk.
var errManyFiles = errors.New("the output directory has too many files; only the first were looked at")

// handOver makes the files of the output directory artifacts of the result. No link
// is followed, and only regular files count; the pipeline opens them just so.
func handOver(r *tools.Result, folder string) error {
	entries := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > maxOutputEntries {
			return errManyFiles
		}
		if err == nil && d.Type().IsRegular() {
			r.Artifacts = append(r.Artifacts, tools.Artifact{Name: d.Name(), Path: path})
		}
		return nil // what cannot be read is not handed over
	})
	if errors.Is(err, errManyFiles) {
		return err
	}
	return nil
}

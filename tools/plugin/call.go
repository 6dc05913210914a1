package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/tools"
	"klawbot/tools/sandbox"
	"klawbot/tools/terminal"
)

const (
	// resultBytes is how much a plugin may print.
	resultBytes = 1 << 20
	// grace is how long a sandbox may take to end a program after its timeout.
	grace = 15 * time.Second
	// Where a sandbox shows the plugins, for reading, and a call's output directory.
	insidePlugins = "/plugins"
	insideOutput  = "/output"
)

// tool is a plugin as a tool.
type tool struct {
	host *Host
	file file
	spec tools.Spec
}

// Spec describes it. The executor's deadline is later than the plugin's own, which ends
// the plugin gracefully.
func (t tool) Spec() tools.Spec {
	spec := t.spec
	spec.Timeout += grace
	return spec
}

// Run runs the plugin once.
func (t tool) Run(ctx context.Context, c tools.Call) tools.Result {
	if now, ok := look(t.file.path); !ok || now != t.file {
		return tools.Fail(tools.Execution, t.spec.Name+" was changed or removed since it was offered; it can be called again in the next turn")
	}
	if info, err := os.Stat(t.host.config.Workspace); err != nil || !info.IsDir() {
		return tools.Fail(tools.Execution, "No workspace set")
	}
	scratch, err := c.Scratch()
	if err != nil {
		return tools.Fail(tools.Execution, err.Error())
	}
	runner := t.host.config.Runner()
	command := t.host.command(runner, t.file, t.spec.Timeout, resultBytes)
	command.Dir, command.Stdin, command.ReadOnly = t.host.config.Workspace, bytes.NewReader(c.Arguments), t.host.config.Keep(c)
	command.Binds = append(command.Binds, output(scratch))
	command.Env = []string{"OUTPUT_DIR=" + place(runner, output(scratch)), "KLAWBOT_CALL=" + c.ID, "KLAWBOT_CHAT=" + c.Chat}
	out, err := runner.Run(ctx, command)
	if err != nil {
		return tools.Fail(tools.Execution, t.spec.Name+" did not start: "+unstarted(err))
	}
	r := t.result(out, scratch, place(runner, output(scratch)))
	if notes := strings.TrimSpace(out.PutBackNotes()); notes != "" {
		r.Output += "\n(" + strings.ReplaceAll(notes, "\n", ")\n(") + ")"
	}
	return r
}

// command runs a plugin in its own folder.
func (h *Host) command(r sandbox.Runner, f file, timeout time.Duration, limit int, args ...string) sandbox.Command {
	folder := sandbox.Bind{Host: h.config.Dir, Inside: insidePlugins}
	return sandbox.Command{
		Argv: append([]string{filepath.Join(place(r, folder), f.name)}, args...), Dir: h.config.Dir,
		Binds: []sandbox.Bind{folder}, Timeout: timeout, MaxOutput: limit, HeadOnly: true,
	}
}

// output is the folder whose files a plugin may hand over.
func output(scratch string) sandbox.Bind {
	return sandbox.Bind{Host: scratch, Inside: insideOutput, Writable: true}
}

// place is how a command names what is bound.
func place(r sandbox.Runner, b sandbox.Bind) string {
	if box, ok := r.(interface{ Place(sandbox.Bind) string }); ok {
		return box.Place(b)
	}
	return b.Host
}

// answer is what a plugin prints: a Result, in which success may be left out.
type answer struct {
	Success      *bool            `json:"success"`
	Output       string           `json:"output"`
	Data         json.RawMessage  `json:"data"`
	Artifacts    []tools.Artifact `json:"artifacts"`
	FilesChanged []string         `json:"files_changed"`
	Error        string           `json:"error"`
	ErrorKind    tools.ErrorKind  `json:"error_kind"`
}

// result is the result of a plugin that ended.
func (t tool) result(out sandbox.Outcome, scratch, outside string) tools.Result {
	switch {
	case out.Broken != "":
		return tools.Fail(tools.Execution, fmt.Sprintf("%s broke a limit of the sandbox: %s", t.spec.Name, out.Broken)+complaint(out))
	case out.TimedOut:
		return tools.Fail(tools.Timeout, fmt.Sprintf("%s did not finish within %s and was stopped with all its processes", t.spec.Name, t.spec.Timeout)+complaint(out))
	case out.Stopped:
		return tools.Fail(tools.Execution, t.spec.Name+" was stopped")
	case out.Stdout.Omitted() > 0:
		return tools.Fail(tools.Execution, fmt.Sprintf("%s printed more than %d bytes", t.spec.Name, resultBytes))
	}
	a, err := parseAnswer(out.Stdout.Head)
	if err != nil {
		return tools.Fail(tools.Execution, fmt.Sprintf("%s ended with exit code %d and printed no result (%s)%s", t.spec.Name, out.ExitCode, oneLine(err), complaint(out)))
	}
	r := a.result(out.ExitCode)
	if out.ExitCode != 0 {
		r.Output += fmt.Sprintf("\n[exit code %d]%s", out.ExitCode, complaint(out))
	}
	r.Artifacts = files(a.Artifacts, scratch, outside)
	return r
}

// parseAnswer reads what a plugin printed.
func parseAnswer(source []byte) (a answer, err error) {
	err = json.Unmarshal(bytes.TrimSpace(source), &a)
	return a, err
}

// honest are the kinds of errors that a plugin can know of.
var honest = []tools.ErrorKind{tools.NotFound, tools.Validation, tools.Timeout, tools.Execution}

// result is what the answer means, with the program's exit code.
func (a answer) result(code int) tools.Result {
	r := tools.Result{Output: terminal.Captured(a.Output), FilesChanged: a.FilesChanged, ExitCode: &code}
	if json.Valid(a.Data) && string(a.Data) != "null" {
		r.Data = a.Data
	}
	r.Success = code == 0 && a.Error == "" && (a.Success == nil || *a.Success)
	if r.Success {
		return r
	}
	r.Error = cmp.Or(a.Error, fmt.Sprintf("exit code %d", code))
	r.Output = cmp.Or(a.Output, "Error: "+r.Error)
	if r.ErrorKind = a.ErrorKind; !slices.Contains(honest, a.ErrorKind) {
		r.ErrorKind = tools.Execution
	}
	return r
}

// files are the artifacts with their paths as they are outside the sandbox. The
// pipeline takes only what lies in the scratch directory.
func files(all []tools.Artifact, scratch, inside string) []tools.Artifact {
	for i, a := range all {
		if rest, ok := strings.CutPrefix(a.Path, inside+"/"); ok {
			all[i].Path = filepath.Join(scratch, rest)
		}
	}
	return all
}

//go:build interop

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/mcp"
)

// interopDir holds the real servers and the conformance suite (make interop).
var interopDir = os.Getenv("INTEROP_DIR")

// node is a program of theirs, and its arguments.
func node(name string, args ...string) mcp.Server {
	script := filepath.Join(interopDir, "node_modules", ".bin", name)
	return mcp.Server{Command: "node", Args: append([]string{script}, args...), Timeout: 20 * time.Second}
}

// actual is a house with one real server, all of whose tools are accepted.
func actual(t *testing.T, c mcp.Server) *house {
	t.Helper()
	if interopDir == "" {
		t.Fatal("INTEROP_DIR is not set; run make interop")
	}
	h := newHouse(t, map[string]mcp.Server{"real": c})
	begun := time.Now()
	all := h.accept("real")
	st := h.host.Statuses()[0]
	t.Logf("ready after %s, protocol %s, %d tools", time.Since(begun).Round(time.Millisecond), st.Protocol, len(all))
	return h
}

// must calls a tool and wants its output to hold something.
func (h *house) must(tool, arguments, want string) tools.Result {
	h.t.Helper()
	r := h.call("mcp_real_"+tool, arguments, tools.Always{})
	if !r.Success || !strings.Contains(r.Output, want) {
		h.t.Errorf("%s %s: %+v, want %q", tool, arguments, r, want)
	}
	return r
}

// TestInteropEverything is about the server with one tool for everything, over
// both transports.
func TestInteropEverything(t *testing.T) {
	t.Run("stdio", func(t *testing.T) { everything(t, node("mcp-server-everything", "stdio")) })
	t.Run("http", func(t *testing.T) { everything(t, mcp.Server{URL: serveEverything(t), Timeout: 20 * time.Second}) })
}

// serveEverything starts the server over HTTP and returns its address.
func serveEverything(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	ln.Close()
	c := node("mcp-server-everything", "streamableHttp")
	cmd := exec.Command(c.Command, c.Args...)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it does not end by itself
		_ = cmd.Wait()
	})
	eventually(t, "the server listens", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://127.0.0.1:" + port + "/mcp"
}

func everything(t *testing.T, c mcp.Server) {
	t.Setenv("SECRET_OF_THE_BOT", "hunter2")
	h := actual(t, c)
	if got := h.offered(); len(got) < 12 {
		t.Errorf("offered %v", got)
	}
	h.must("echo", `{"message":"hello"}`, "hello")
	h.must("get_sum", `{"a":2,"b":3}`, "5")
	if r := h.call("mcp_real_get_sum", `{"a":"two"}`, tools.Always{}); r.ErrorKind != tools.Validation {
		t.Errorf("%+v", r)
	}
	if r := h.must("get_structured_content", `{"location":"Chicago"}`, "temperature"); !strings.Contains(string(r.Data), "temperature") {
		t.Errorf("data %s", r.Data)
	}
	if r := h.must("get_tiny_image", `{}`, "image-1.png"); len(r.Artifacts) != 1 || !strings.HasPrefix(h.kept[r.Artifacts[0].Path], "\x89PNG") {
		t.Errorf("%+v", r)
	}
	h.must("get_resource_links", `{}`, "resource")
	h.must("trigger_long_running_operation", `{"duration":1,"steps":2}`, "completed")
	if c.Command != "" {
		if r := h.must("get_env", `{}`, "PATH"); strings.Contains(r.Output, "hunter2") {
			t.Error("the server sees the bot's environment")
		}
	}
	if name := "mcp_real_trigger_elicitation_request"; slices.Contains(h.offered(), name) {
		who := &person{reply: filledIn}
		if r := h.call(name, `{}`, who); !strings.Contains(r.Output, "Name: Ada") || !strings.Contains(r.Output, "Favorite Integer: 7") || len(who.wanted) != 13 {
			t.Errorf("after %d questions: %+v", len(who.wanted), r)
		}
		if r := h.call(name, `{}`, &person{}); !r.Success || len(r.Output) == 0 {
			t.Errorf("declined: %+v", r)
		}
	} else {
		t.Error("it asks for nothing")
	}
	h.must("resources_list", `{}`, "demo://resource/static/document/")
	h.must("resources_read", `{"uri":"demo://resource/dynamic/text/1"}`, "demo://resource/dynamic/text/1")
	h.must("prompts_list", `{}`, "- simple-prompt(): A prompt with no arguments")
	h.must("prompts_get", `{"name":"simple-prompt"}`, "This is a simple prompt")
	short := c
	short.Timeout = 3 * time.Second
	h.configure(map[string]mcp.Server{"real": short})
	if r := h.call("mcp_real_trigger_long_running_operation", `{"duration":10,"steps":2}`, tools.Always{}); r.ErrorKind != tools.Timeout {
		t.Errorf("%+v", r)
	}
	h.must("echo", `{"message":"still here"}`, "still here")
	if st := h.host.Statuses()[0]; st.Starts != 1 {
		t.Errorf("the connection did not outlive a call that took too long: %+v", st)
	}
	begun := time.Now()
	h.host.Close()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s to close", took)
	}
}

// filledIn is how a person fills in the form of server-everything.
func filledIn(_ context.Context, q tools.Question) tools.Reply {
	switch title, _, _ := strings.Cut(q.Field, " ("); {
	case q.Step == 1:
		return write("Ada")
	case title == "Integer":
		return write("7")
	case strings.HasPrefix(title, "Untitled Multiple"):
		return write("piano, 3")
	}
	for _, name := range []string{"yes", "keep", "skip"} {
		if r := choose(q, name); r.Outcome == tools.Answered {
			return r
		}
	}
	return tools.Reply{Outcome: tools.Cancelled}
}

func TestInteropFilesystem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := actual(t, node("mcp-server-filesystem", dir))
	file := filepath.Join(dir, "note.txt")
	quote := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	h.must("write_file", quote(map[string]any{"path": file, "content": "one\ntwo\n"}), "wrote")
	if b, err := os.ReadFile(file); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("%q, %v", b, err)
	}
	h.must("read_text_file", quote(map[string]any{"path": file, "head": 1}), "one")
	h.must("edit_file", quote(map[string]any{"path": file, "edits": []map[string]string{{"oldText": "two", "newText": "three"}}}), "three")
	h.must("list_directory", quote(map[string]any{"path": dir}), "note.txt")
	h.must("search_files", quote(map[string]any{"path": dir, "pattern": "*.txt"}), "note.txt")
	if r := h.call("mcp_real_read_text_file", `{"path":"/etc/hostname"}`, tools.Always{}); r.Success || r.Error == "" {
		t.Errorf("%+v", r)
	}
}

func TestInteropMemory(t *testing.T) {
	c := node("mcp-server-memory")
	c.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.json")}
	h := actual(t, c)
	h.must("create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["likes tea"]}]}`, "Ada")
	h.must("add_observations", `{"observations":[{"entityName":"Ada","contents":["lives in London"]}]}`, "London")
	h.must("search_nodes", `{"query":"London"}`, "likes tea")
	h.must("read_graph", `{}`, "Ada")
	if _, err := os.Stat(c.Env["MEMORY_FILE_PATH"]); err != nil {
		t.Error(err)
	}
}

// conformanceVariable makes the test binary the client of the conformance
// suite, which appends the address of its server.
const conformanceVariable = "KLAWBOT_CONFORMANCE"

func init() {
	if os.Getenv(conformanceVariable) == "" {
		return
	}
	if err := conform(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// conform connects to a server as the bot does, accepts all of its tools and
// calls each of them.
func conform(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	l, suite := &approvals{}, mcp.Server{URL: address, Client: registered()}
	h := mcp.New(ctx, mcp.Config{
		Servers:   func() map[string]mcp.Server { return map[string]mcp.Server{"suite": suite} },
		Approvals: l, Dir: os.TempDir(), Log: log, Version: "test",
		SignIn: mcp.SignIn{Redirect: "http://localhost:3000/callback", Visit: browse},
	})
	defer h.Close()
	if err := h.Connect(ctx, "suite"); err != nil {
		return err
	}
	accepted, err := h.Accept(ctx, "suite", h.Waiting("suite"), 0)
	if err != nil {
		return err
	}
	registry, err := tools.NewRegistry()
	if err != nil {
		return err
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Sources: []tools.Source{h}, Redact: &redact.Set{}, Log: log})
	for _, a := range accepted {
		arguments := "{}"
		if a.Tool == "add_numbers" {
			arguments = `{"a":5,"b":3}`
		}
		r, err := e.Execute(ctx, tools.Call{ID: a.Name, Name: a.Name, Arguments: json.RawMessage(arguments), Approver: tools.Always{}}, nil)
		if err == nil && !r.Success {
			err = errors.New(r.Error)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// registered is the client that the suite knows, in the scenarios where it does.
func registered() mcp.Client {
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &known) // mostly there is none
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	switch {
	case scenario == "auth/basic-cimd":
		return mcp.Client{ID: "https://conformance-test.local/client-metadata.json"}
	case known.Secret == "":
		return mcp.Client{}
	}
	return mcp.Client{ID: known.ID, Secret: known.Secret, Machine: strings.Contains(scenario, "client-credentials")}
}

// unmet are the scenarios of the suite that we do not pass, with the reasons.
var unmet = map[string]string{
	"auth/metadata-var2":          "its metadata names another issuer than its address; the SDK refuses that, as RFC 8414 says",
	"auth/metadata-var3":          "as metadata-var2",
	"auth/client-credentials-jwt": "machines that sign with a key of their own: the SDK has secrets only",
}

// TestInteropConformance runs the client scenarios of the suite.
func TestInteropConformance(t *testing.T) {
	if interopDir == "" {
		t.Fatal("INTEROP_DIR is not set; run make interop")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	passed, failed, checks := 0, 0, 0
	for _, name := range scenarios(t) {
		out, err := runScenario(t, self, name)
		n := regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed`).FindStringSubmatch(out)
		good := err == nil && n != nil && n[3] == "0"
		why, known := unmet[name]
		switch {
		case good && !known:
			passed++
			c, _ := strconv.Atoi(n[1]) // digits
			checks += c
			t.Logf("%s: %s", name, n[0])
		case good:
			t.Errorf("%s passes now; take it out of the list", name)
		case known:
			failed++
			t.Logf("%s: not passed (%s)", name, why)
		default:
			failed++
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	t.Logf("conformance suite: %d scenarios passed with %d checks, %d not", passed, checks, failed)
}

// scenarios are the names of the suite's client scenarios.
func scenarios(t *testing.T) []string {
	t.Helper()
	c := node("conformance", "list")
	out, err := exec.Command(c.Command, c.Args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, list, _ := strings.Cut(string(out), "Client scenarios")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\s+- (\S+)$`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) < 20 {
		t.Fatalf("only %d scenarios: %s", len(names), out)
	}
	return names
}

// runScenario runs one scenario with the test binary as the client.
func runScenario(t *testing.T, self, name string) (string, error) {
	t.Helper()
	c := node("conformance", "client", "--command", self, "--scenario", name)
	cmd := exec.CommandContext(t.Context(), c.Command, c.Args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), conformanceVariable+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

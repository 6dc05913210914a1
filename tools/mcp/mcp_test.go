package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/find"
	"klawbot/tools/mcp"
)

func TestNothingIsUsedBeforeTheOwnerAccepts(t *testing.T) {
	h := one(t, "plain")
	if err := h.host.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if got := h.offered(); len(got) != 0 {
		t.Errorf("offered before: %v", got)
	}
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.ErrorKind != tools.NotFound {
		t.Errorf("%+v", r)
	}
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.Output != "you said: x" {
		t.Errorf("%+v", r)
	}
	if got := h.offered(); len(got) != 16 || !slices.IsSorted(got) {
		t.Errorf("offered after: %v", got)
	}
}

func TestToolsAskUnlessTheOwnerSaysTheyRead(t *testing.T) {
	h := one(t, "plain", "echo")
	h.accept("test")
	who := &person{}
	if r := h.call("mcp_test_echo", `{"text":"x"}`, who); !r.Success || len(who.asked) != 0 {
		t.Errorf("%+v after %d questions", r, len(who.asked))
	}
	if r := h.call("mcp_test_weather", `{}`, who); !r.Success || len(who.asked) != 1 || who.asked[0].Binds == "" {
		t.Errorf("%+v after %+v", r, who.asked)
	}
	if r := h.call("mcp_test_weather", `{}`, nil); r.ErrorKind != tools.ApprovalDenied {
		t.Errorf("%+v", r)
	}
}

func TestServerSeesNothingOfTheEnvironment(t *testing.T) {
	t.Setenv("KLAWBOT_SECRET_OF_THE_BOT", "hunter2")
	c := child(t, "plain")
	c.Env["GREETING"] = "hello"
	h := newHouse(t, map[string]mcp.Server{"test": c})
	h.accept("test")
	r := h.call("mcp_test_environment", "{}", tools.Always{})
	if !r.Success || strings.Contains(r.Output, "hunter2") || !strings.Contains(r.Output, "GREETING=hello") || !strings.Contains(r.Output, "PATH=") {
		t.Errorf("%+v", r)
	}
}

func TestToolThatChangesIsOffUntilItIsAccepted(t *testing.T) {
	h := one(t, "plain", "echo")
	h.accept("test")
	before := h.host.Changed()
	h.call("mcp_test_change", "{}", tools.Always{})
	eventually(t, "the tool is off", func() bool { return !slices.Contains(h.offered(), "mcp_test_echo") })
	if h.host.Changed() == before {
		t.Error("nobody is told of the change")
	}
	if f := h.host.Faults(); len(f) != 1 || f[0].Name != "mcp_test_echo" {
		t.Errorf("faults %+v", f)
	}
	st := h.host.Statuses()[0]
	i := slices.IndexFunc(st.Tools, func(s mcp.ToolStatus) bool { return s.Tool == "echo" })
	if got := st.Tools[i]; got.Standing != mcp.Changed || !strings.Contains(got.Description, "id_rsa") {
		t.Errorf("status %+v", got)
	}
	if len(st.Waiting) != 1 || st.Waiting[0].Tool != "echo" {
		t.Errorf("waiting %+v", st.Waiting)
	}
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.Success {
		t.Errorf("%+v", r)
	}
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.Output != "you said: x" {
		t.Errorf("%+v", r)
	}
}

// TestCallOfAToolThatHasJustChanged: the turn still has the tool, and the
// server another one.
func TestCallOfAToolThatHasJustChanged(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	all := h.host.Tools()
	echo := all[slices.IndexFunc(all, func(o tools.Tool) bool { return o.Spec().Name == "mcp_test_echo" })]
	h.call("mcp_test_change", "{}", tools.Always{})
	eventually(t, "the tool is off", func() bool { return len(h.host.Faults()) == 1 })
	if r := echo.Run(t.Context(), tools.Call{Arguments: []byte(`{"text":"x"}`)}); r.ErrorKind != tools.Security {
		t.Errorf("%+v", r)
	}
}

func TestTimeoutLeavesTheSessionAlive(t *testing.T) {
	c := child(t, "plain")
	c.Timeout = 300 * time.Millisecond
	h := newHouse(t, map[string]mcp.Server{"test": c})
	h.accept("test")
	if r := h.call("mcp_test_slow", "{}", tools.Always{}); r.ErrorKind != tools.Timeout || !strings.Contains(r.Error, "300ms") {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_echo", `{"text":"still here"}`, tools.Always{}); !r.Success {
		t.Errorf("%+v", r)
	}
	if st := h.host.Statuses()[0]; st.Starts != 1 || st.State != mcp.Ready {
		t.Errorf("%+v", st)
	}
}

func TestAnswersBecomeResults(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	r := h.call("mcp_test_picture", "{}", tools.Always{})
	if len(r.Artifacts) != 1 || r.Artifacts[0].Name != "image-1.png" || r.Artifacts[0].MIME != "image/png" || h.kept[r.Artifacts[0].Path] != string(pixel) {
		t.Errorf("artifacts %+v, kept %q", r.Artifacts, h.kept)
	}
	for _, want := range []string{"here it is", "[image, image/png, 17 bytes, image-1.png]", "[resource motd: file:///etc/motd", "[resource note://1]\na note"} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q lacks %q", r.Output, want)
		}
	}
	if r := h.call("mcp_test_weather", "{}", tools.Always{}); r.Output != `{"degrees":21}` || string(r.Data) != `{"degrees":21}` {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_fail", "{}", tools.Always{}); r.Success || r.Error != "the database is locked" || r.ErrorKind != tools.Execution {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_big", "{}", tools.Always{}); !r.Truncated || len(r.Output) > 11_000 {
		t.Errorf("%d characters, %+v", len(r.Output), r.Truncated)
	}
	if r := h.call("mcp_test_album", "{}", tools.Always{}); len(r.Artifacts) != 8 || strings.Count(r.Output, "left out: too many files]") != 2 {
		t.Errorf("%d files: %s", len(r.Artifacts), r.Output)
	}
	if r := h.call("mcp_test_echo", `{"txt":"x"}`, tools.Always{}); r.ErrorKind != tools.Validation {
		t.Errorf("%+v", r)
	}
}

func TestServerThatCrashesIsStartedAgain(t *testing.T) {
	h := one(t, "plain", "echo")
	h.accept("test")
	r := h.call("mcp_test_crash", "{}", tools.Always{})
	if r.Success || !strings.Contains(r.Error, "It is unknown whether the call took effect") {
		t.Errorf("%+v", r)
	}
	if r := h.call("mcp_test_echo", `{"text":"again"}`, tools.Always{}); r.Output != "you said: again" {
		t.Errorf("%+v", r)
	}
	if st := h.host.Statuses()[0]; st.Starts != 2 {
		t.Errorf("%+v", st)
	}
}

// TestUnreadableMessages is told in words, not in those of a library.
func TestUnreadableMessages(t *testing.T) {
	for tool, want := range map[string]string{
		"wrong": "MCP server test: it sent something that the protocol does not allow; it is connected to again. It is unknown whether",
		"huge":  "MCP server test: it sent a message of more than 16 MiB; it is connected to again. It is unknown whether",
		"quit":  "MCP server test: it ended the connection; it is connected to again. It is unknown whether",
	} {
		h := one(t, "odd")
		h.accept("test")
		if r := h.call("mcp_test_"+tool, "{}", tools.Always{}); r.Success || !strings.HasPrefix(r.Error, want) {
			t.Errorf("%s: %+v", tool, r)
		}
	}
}

func TestServerThatCannotStart(t *testing.T) {
	h := newHouse(t, map[string]mcp.Server{"dies": child(t, "dies"), "nowhere": {Command: "/nonexistent/server"}, "web": {URL: "http://127.0.0.1:1/mcp"}})
	h.approvals.rows = []mcp.Accepted{{Server: "dies", Definition: mcp.Definition{Tool: "echo", Schema: []byte(`{"type":"object"}`)}, Name: "mcp_dies_echo"}}
	if r := h.call("mcp_dies_echo", "{}", tools.Always{}); r.Success || !strings.Contains(r.Error, "exit code 3: no such database") {
		t.Errorf("%+v", r)
	}
	for i, want := range []string{"no such database", "no such file", "refused"} {
		st := h.host.Probe(t.Context())[i]
		if st.State != mcp.Down || !strings.Contains(st.Error, want) {
			t.Errorf("%+v", st)
		}
	}
}

func TestProgramThatEndsOnTheLatestProtocol(t *testing.T) {
	h := one(t, "fussy")
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); !r.Success {
		t.Errorf("%+v", r)
	}
	if st := h.host.Statuses()[0]; st.Protocol != "2025-11-25" || st.Starts != 1 {
		t.Errorf("%+v", st)
	}
}

// TestProgramThatSaysNothingToTheLatestProtocol: there are servers that drop what
// they do not know. A program that is slow, too, is tried again.
func TestProgramThatSaysNothingToTheLatestProtocol(t *testing.T) {
	h := newHouse(t, nil)
	h.start = 3 * time.Second
	h.open()
	h.configure(map[string]mcp.Server{"test": child(t, "deaf")})
	for range time.Tick(50 * time.Millisecond) {
		err := h.host.Connect(t.Context(), "test")
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "it has not answered within 3s") {
			t.Fatal(err)
		}
	}
	if st := h.host.Statuses()[0]; st.Protocol != "2024-11-05" {
		t.Errorf("%+v", st)
	}
}

func TestProtocolVersionOfTheOwner(t *testing.T) {
	c := child(t, "fussy")
	c.ProtocolVersion = "2025-06-18"
	h := newHouse(t, map[string]mcp.Server{"test": c})
	h.accept("test")
	if st := h.host.Statuses()[0]; st.Protocol != "2025-06-18" || st.Stderr != "" {
		t.Errorf("%+v", st)
	}
}

func TestServerWithoutTools(t *testing.T) {
	h := one(t, "bare")
	if err := h.host.Connect(t.Context(), "test"); err != nil || len(h.host.Waiting("test")) != 0 {
		t.Errorf("%+v, %v", h.host.Waiting("test"), err)
	}
}

func TestCloseEndsChildrenOfServers(t *testing.T) {
	h := newHouse(t, map[string]mcp.Server{"a": child(t, "stays"), "b": child(t, "stays"), "c": child(t, "stays")})
	var pids []int
	for _, name := range []string{"a", "b", "c"} {
		h.accept(name)
		var server, grandchild int
		r := h.call("mcp_"+name+"_spawn", "{}", tools.Always{})
		if _, err := fmt.Sscan(r.Output, &server, &grandchild); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		pids = append(pids, server, grandchild)
	}
	begun := time.Now()
	h.host.Close()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("three servers took %s to close", took)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// TestTimeOfPeopleIsNotTheServers: the clock of a call stands still while
// a person thinks about a question.
func TestTimeOfPeopleIsNotTheServers(t *testing.T) {
	c := child(t, "plain")
	c.Timeout = 2 * time.Second
	h := newHouse(t, map[string]mcp.Server{"test": c})
	h.accept("test")
	slow := &person{reply: func(_ context.Context, q tools.Question) tools.Reply {
		if q.Step == 1 {
			<-time.After(c.Timeout + time.Second)
			return choose(q, "yes")
		}
		return choose(q, "keep")
	}}
	if r := h.call("mcp_test_ask", "{}", slow); !r.Success {
		t.Errorf("%+v", r)
	}
}

// TestWhoConnectsHearsAtOnceThatItFailed: a person at a terminal does not wait for
// a second try, nor hears of one that never comes.
func TestWhoConnectsHearsAtOnceThatItFailed(t *testing.T) {
	h := newHouse(t, map[string]mcp.Server{"test": child(t, "dies")})
	err := h.host.Connect(t.Context(), "test")
	if err == nil || err.Error() != "MCP server test: the program ended with exit code 3: no such database" {
		t.Errorf("%v", err)
	}
	h = newHouse(t, map[string]mcp.Server{"test": child(t, "stranger")})
	err = h.host.Connect(t.Context(), "test")
	if err == nil || err.Error() != `MCP server test: unsupported protocol version: "1999-01-01"` {
		t.Errorf("%v", err)
	}
}

// TestProgramThatGreets: there are programs that write more than messages to their
// standard output.
func TestProgramThatGreets(t *testing.T) {
	h := one(t, "chatty")
	h.accept("test")
	if r := h.call("mcp_test_echo", `{"text":"x"}`, tools.Always{}); r.Output != "you said: x" {
		t.Errorf("%+v", r)
	}
}

func TestConfigurationIsFollowed(t *testing.T) {
	h := newHouse(t, map[string]mcp.Server{"test": child(t, "plain")})
	h.accept("test")
	before := h.host.Changed()
	h.configure(nil)
	if got := h.offered(); len(got) != 0 || h.host.Changed() == before {
		t.Errorf("offered %v", got)
	}
	if err := h.host.Connect(t.Context(), "test"); err == nil {
		t.Error("a server that is not configured was connected to")
	}
	if err := h.host.Forget(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	h.configure(map[string]mcp.Server{"test": child(t, "plain")})
	if got := h.offered(); len(got) != 0 {
		t.Errorf("offered after it was forgotten: %v", got)
	}
}

func TestToolSearchFindsToolsOfServers(t *testing.T) {
	h := one(t, "plain", "echo")
	h.accept("test")
	search := find.NewSearch(h.executor.Offered, nil, func() string { return "ru" })
	r := search.Run(t.Context(), tools.Call{Arguments: []byte(`{"query":"environment","topK":1}`)})
	if !strings.Contains(r.Output, "## mcp_test_environment") || string(r.Data) != `["mcp_test_environment"]` {
		t.Errorf("%+v", r)
	}
}

// BenchmarkCall is a whole call of a program's tool: pipeline, protocol and the
// way there and back.
func BenchmarkCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	l := &approvals{}
	host := mcp.New(b.Context(), mcp.Config{
		Servers: func() map[string]mcp.Server {
			return map[string]mcp.Server{"test": {Command: self, Env: map[string]string{modeVariable: "plain"}, ReadOnly: []string{"echo"}}}
		},
		Approvals: l, Dir: b.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	defer host.Close()
	err = host.Connect(b.Context(), "test")
	if err == nil {
		_, err = host.Accept(b.Context(), "test", host.Waiting("test"), 0)
	}
	registry, failed := tools.NewRegistry()
	if err = errors.Join(err, failed); err != nil {
		b.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Sources: []tools.Source{host}, Redact: &redact.Set{}, Log: slog.New(slog.DiscardHandler)})
	for b.Loop() {
		r, err := e.Execute(b.Context(), tools.Call{Name: "mcp_test_echo", Arguments: []byte(`{"text":"x"}`)}, nil)
		if err != nil || !r.Success {
			b.Fatal(r, err)
		}
	}
}

// TestNullReachesTheServer where its schema takes null: it clears a field.
func TestNullReachesTheServer(t *testing.T) {
	h := one(t, "plain")
	h.accept("test")
	for name, c := range map[string][2]string{
		"mcp-null":        {`{"task":"a","due":null}`, `{"due":null,"task":"a"}`},
		"by a reference":  {`{"task":"a","day":null}`, `{"day":null,"task":"a"}`},
		"any value":       {`{"task":"a","any":null}`, `{"any":null,"task":"a"}`},
		"inside":          {`{"task":"a","more":{"due":null,"note":null}}`, `{"more":{"due":null},"task":"a"}`},
		"not for a text":  {`{"task":"a","note":null}`, `{"task":"a"}`},
		"given as string": {`"{\"task\":\"a\",\"due\":null}"`, `{"due":null,"task":"a"}`},
	} {
		if r := h.call("mcp_test_task_update", c[0], tools.Always{}); r.Output != c[1] {
			t.Errorf("%s: %s arrived as %+v", name, c[0], r)
		}
	}
}

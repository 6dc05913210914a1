package engine_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/engine/data"
	"klawbot/internal/modeltest"
	"klawbot/tools/recall"
)

func TestMemoryStoreRecallForget(t *testing.T) {
	h := build(t)
	h.settings.Models.Default = ""
	h.start()
	h.asks(alice, `/tool memory_store {"content": "Anna's birthday is on 3 May; she likes orchids.", "key": "anna_birthday"}`)
	for _, query := range []string{"when is Anna's birthday", "orchid"} {
		if got := h.asks(alice, `/tool memory_recall {"query": "`+query+`", "limit": 3}`); !strings.Contains(got, "[manual] (") || !strings.Contains(got, "3 May") {
			t.Errorf("%q finds %q", query, got)
		}
	}
	if got := h.asks(alice, `/tool memory_forget {"key": "anna_birthday"}`); !strings.Contains(got, "OK: memory 'anna_birthday' forgotten") {
		t.Errorf("forgetting says %q", got)
	}
	if got := h.asks(alice, `/tool memory_recall {"query": "Anna birthday"}`); !strings.Contains(got, "No relevant memories found.") {
		t.Errorf("what was forgotten is still found: %q", got)
	}
	if got := h.asks(alice, `/tool memory_forget {"key": "anna_birthday"}`); !strings.Contains(got, "Error: memory 'anna_birthday' not found") {
		t.Errorf("forgetting again says %q", got)
	}
}

// TestWhatIsFoundCanBeForgotten: a memory without a name is forgotten by the id that
// the search shows, and an owner forgets by its name what was saved for all chats.
func TestWhatIsFoundCanBeForgotten(t *testing.T) {
	h := build(t)
	call := h.calls()
	call("memory_save", `{"content": "Anna likes orchids"}`)
	if err := os.WriteFile(filepath.Join(h.workspace(), "MEMORY.md"), []byte("Bob likes orchids"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := call("memory_search", `{"query": "orchids"}`)
	id := regexp.MustCompile(`\[manual\] \(\d{4}-\d\d-\d\d \d\d:\d\d\) id (\d+)\nAnna`).FindStringSubmatch(got)
	if id == nil || strings.Count(got, " id ") != 1 {
		t.Fatalf("the search shows %q", got)
	}
	wantIn(t, call("memory_forget", `{"id": `+id[1]+`}`), "OK: memory '"+id[1]+"' forgotten")
	if got := call("memory_search", `{"query": "orchids"}`); strings.Contains(got, "Anna") || !strings.Contains(got, "Bob") {
		t.Errorf("afterwards the search shows %q", got)
	}
	if _, err := openData(t, h).SaveMemory(t.Context(), recall.Entry{Content: "The boiler is old", Key: "boiler", Source: "manual"}); err != nil {
		t.Fatal(err)
	}
	wantIn(t, call("memory_forget", `{"key": "boiler"}`), "OK: memory 'boiler' forgotten")
}

func TestHistorySearchFindsWhatWasSaidInThisChatAlone(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	h.asks(alice, "the boiler was serviced by Mr Kowalski")
	h.asks(bob, "the boiler of the office is broken")
	h.asks(alice, "/new")
	got := h.asks(alice, `/tool history_search {"query": "who serviced the boiler"}`)
	if !strings.Contains(got, "Kowalski") || strings.Contains(got, "office") {
		t.Errorf("history_search finds %q", got)
	}
}

// TestHistorySearchFindsNothingThatACommandPrinted: what a tool prints for a command
// was said by nobody. What people write in a command was.
func TestHistorySearchFindsNothingThatACommandPrinted(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	h.asks(alice, "/note the boiler is from 1987")
	if got := h.asks(alice, `/tool file_read {"path": "notes.md"}`); !strings.Contains(got, "1987") {
		t.Fatalf("the file holds %q", got)
	}
	h.asks(alice, `/files`)
	got := h.asks(alice, `/tool history_search {"query": "notes boiler 1987"}`)
	if !strings.Contains(got, "/note the boiler") || strings.Contains(got, "assistant:") {
		t.Errorf("history_search finds %q", got)
	}
}

// TestTheNextSearchFindsTheWordsOfALongTurn: turns do not wait for the index, but the next
// search finds their words, also behind many calls.
func TestTheNextSearchFindsTheWordsOfALongTurn(t *testing.T) {
	h := build(t)
	const calls = 15
	h.settings.MaxToolCallRounds = 2 * calls
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		if n := len(r.Messages); n < 2*calls {
			return modeltest.CallTool("memory_search", map[string]any{"query": fmt.Sprint("boiler ", n)})
		}
		return modeltest.Text("Mr Kowalski did it")
	})
	h.start()
	h.asks(alice, "who serviced the boiler?")
	if got := h.asks(alice, `/tool history_search {"query": "Mr Kowalski"}`); !strings.Contains(got, "did it") {
		t.Errorf("history_search finds %q", got)
	}
}

// TestABrokenIndexKeepsNoMessage: what cannot be indexed is answered and kept.
func TestABrokenIndexKeepsNoMessage(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	db := h.database()
	h.asks(alice, "hello")
	if _, err := db.Exec(`ALTER TABLE chunks RENAME TO chunks_away`); err != nil {
		t.Fatal(err)
	}
	h.asks(alice, "the boiler was serviced by Mr Kowalski")
	h.until("the log says it", func() bool { return strings.Contains(h.logs.String(), "messages not indexed") })
	if _, err := db.Exec(`ALTER TABLE chunks_away RENAME TO chunks`); err != nil {
		t.Fatal(err)
	}
	h.asks(alice, "/new")
	if got := h.asks(alice, `/tool history_search {"query": "who serviced the boiler"}`); !strings.Contains(got, "Kowalski") {
		t.Errorf("when the index works again, history_search finds %q", got)
	}
}

// database is a second connection to the database.
func (h *house) database() *sql.DB {
	h.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(h.dir, "klawbot.db")+"?_busy_timeout=10000")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return db
}

// remembered is what the command line finds beside the bot.
func (h *house) remembered(query string) []recall.Hit {
	h.t.Helper()
	found, err := openData(h.t, h).SearchMemory(h.t.Context(), data.MemoryQuery{Text: query, TopK: 5, Mode: "keyword"})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// calls starts a house without a model and returns a function that calls a tool as
// the owner.
func (h *house) calls() func(tool, arguments string) string {
	h.t.Helper()
	h.settings.Models.Default = ""
	h.start()
	return func(tool, arguments string) string {
		h.t.Helper()
		return h.asks(alice, "/tool "+tool+" "+arguments)
	}
}

func wantIn(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q lacks %q", got, w)
		}
	}
}

func TestMemorySearchReturnsRelevantChunks(t *testing.T) {
	call := build(t).calls()
	call("memory_save", `{"content": "The boiler was serviced by Mr Kowalski.", "source": "house"}`)
	call("memory_save", `{"content": "Anna likes orchids.", "source": "people"}`)
	got := call("memory_search", `{"query": "who serviced the boiler"}`)
	wantIn(t, got, "[house] (", "Kowalski")
	if strings.Contains(got, "orchids") {
		t.Errorf("what does not fit is found: %q", got)
	}
	wantIn(t, call("memory_search", `{"query": "submarine"}`), "No relevant memories found.")
}

func TestMemorySearchWithTopKParameter(t *testing.T) {
	call := build(t).calls()
	for _, day := range []string{"Monday", "Tuesday", "Friday"} {
		call("memory_save", `{"content": "Swimming lesson on `+day+`.", "source": "`+day+`"}`)
	}
	if got := call("memory_search", `{"query": "swimming", "topK": 2}`); strings.Count(got, "\n---\n") != 1 {
		t.Errorf("two of three are %q", got)
	}
	if got := call("memory_search", `{"query": "swimming"}`); strings.Count(got, "\n---\n") != 2 {
		t.Errorf("all three are %q", got)
	}
}

func TestMemorySaveStoresChunkAndIndexesIt(t *testing.T) {
	call := build(t).calls()
	wantIn(t, call("memory_save", `{"content": "My bike has the lock 4711."}`), "Saved 1 chunk(s) from source 'manual'.")
	wantIn(t, call("memory_search", `{"query": "lock of the bike"}`), "4711")
	wantIn(t, call("memory_save", `{"content": " "}`), "No content to save.")
	long := strings.Repeat("A paragraph about gardens and what grows in them in spring. ", 60)
	wantIn(t, call("memory_save", `{"content": "`+long+`", "source": "book"}`), "from source 'book'.")
}

func TestMemoryCoreGetReturnsCoreMemoryJSON(t *testing.T) {
	call := build(t).calls()
	wantIn(t, call("memory_core_get", `{}`), `"user": {}`, `"agent": {}`)
}

func TestMemoryCoreUpdateModifiesUserSection(t *testing.T) {
	call := build(t).calls()
	wantIn(t, call("memory_core_update", `{"section": "user", "key": "name", "value": "Anna"}`), "OK: user.name updated")
	wantIn(t, call("memory_core_get", `{}`), `"name": "Anna"`)
	wantIn(t, call("memory_core_update", `{"section": "other", "key": "name", "value": "Anna"}`), "Error: section must be 'user' or 'agent'")
}

func TestMemoryCoreUpdateModifiesAgentSection(t *testing.T) {
	h := build(t)
	call := h.calls()
	wantIn(t, call("memory_core_update", `{"section": "agent", "key": "role", "value": "gardener"}`), "OK: agent.role updated")
	text, err := os.ReadFile(filepath.Join(h.dir, "memory", "core_memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(text), `"role": "gardener"`)
	wantIn(t, h.asks(alice, "/memory"), "[agent]", "role: gardener")
	if got := h.asks(bob, "/memory"); strings.Contains(got, "gardener") {
		t.Errorf("somebody else sees the core memory: %q", got)
	}
}

func TestMemoryCoreDeleteRemovesKey(t *testing.T) {
	call := build(t).calls()
	call("memory_core_update", `{"section": "user", "key": "employer", "value": "ACME"}`)
	wantIn(t, call("memory_core_delete", `{"section": "user", "key": "employer"}`), "OK: user.employer deleted")
	if got := call("memory_core_get", `{}`); strings.Contains(got, "ACME") {
		t.Errorf("the fact is still there: %q", got)
	}
}

func TestMemoryCoreDeleteOnNonExistentKeyReturnsError(t *testing.T) {
	call := build(t).calls()
	wantIn(t, call("memory_core_delete", `{"section": "user", "key": "k"}`), "Error: key 'k' not found in 'user'")
}

func TestMemoryIsOfTheChatThatSavedIt(t *testing.T) {
	h := build(t)
	call := h.calls()
	call("memory_save", `{"content": "Alice keeps her key under the pot.", "key": "k"}`)
	if err := os.WriteFile(filepath.Join(h.workspace(), "MEMORY.md"), []byte("The wifi key is on the fridge."), 0o600); err != nil {
		t.Fatal(err)
	}
	// Bob may call no tools by hand; his search is a command for everybody.
	got := h.asks(bob, "/memory search where is the key")
	wantIn(t, got, "wifi key")
	if strings.Contains(got, "pot") {
		t.Errorf("another chat's memory is found: %q", got)
	}
	wantIn(t, h.asks(alice, "/memory search where is the key"), "wifi key", "under the pot")
}

func TestMemoryFilesAreReadWithMemoryGet(t *testing.T) {
	h := build(t)
	call := h.calls()
	if err := os.WriteFile(filepath.Join(h.workspace(), "USER.md"), []byte("- Name: Anna\n- Lives in: not known yet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantIn(t, call("memory_get", `{"file": "USER.md", "startLine": 1, "endLine": 1}`), "- Name: Anna")
	wantIn(t, call("memory_get", `{"file": "daily", "date": "2026-01-31"}`), "Error: file not found: memory/2026-01-31.md")
	wantIn(t, call("memory_get", `{"file": "../secret"}`), "Error:")
	h.restart()
	wantIn(t, h.asks(alice, "/memory"), "name: Anna")
}

// TestMemoryFromOutsideAsks wants a person to agree before an answer that has read
// text from outside remembers anything.
func TestMemoryFromOutsideAsks(t *testing.T) {
	h := build(t)
	h.settings.ApprovalTimeout = time.Minute
	if err := os.WriteFile(filepath.Join(h.workspace(), "page.md"), []byte("The garden party is on Sunday."), 0o600); err != nil {
		t.Fatal(err)
	}
	h.model.Push(
		modeltest.CallTool("memory_save", map[string]any{"content": "Alice asked for tea."}),
		modeltest.CallTool("file_read", map[string]any{"path": "page.md"}),
		modeltest.CallTool("memory_save", map[string]any{"content": "The garden party is on Sunday."}),
	)
	h.start().says(alice, "read the page and remember it")
	asked := func() bool {
		return strings.Contains(strings.Join(h.messenger.texts(alice), "\n"), "memory_save")
	}
	if !h.messenger.wait(10*time.Second, asked) {
		t.Fatalf("nobody was asked: %q", h.messenger.texts(alice))
	}
	if found := h.remembered("garden party"); len(found) != 0 {
		t.Errorf("it is remembered before anybody agreed: %+v", found)
	}
	if found := h.remembered("tea"); len(found) != 1 {
		t.Errorf("what came before is %+v", found)
	}
}

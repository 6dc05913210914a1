package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rule says how many lines a package may have, without its tests, and what it may
// import of ours. Fakes and tools for tests have no bound: 0.
type rule struct {
	lines   int
	imports []string
	why     string
}

// maxTotal bounds the lines of the program, without tests, fakes and tools for tests.
const maxTotal = 82000

// allowed is the layering of the house: package → what it may import of ours.
// A prefix ends in "/...". A new package needs a row, so growth is a decision.
var allowed = map[string]rule{
	"whitelist":                          {150, nil, "pure rules"},
	"gateway":                            {1050, []string{"whitelist", "internal/redact"}, "the one door"},
	"gateway/telegram":                   {4250, []string{"gateway", "internal/redact", "internal/httpclient"}, "one channel; clients are made in one place"},
	"gateway/console":                    {500, []string{"gateway", "internal/redact"}, "one channel"},
	"tools":                              {3850, []string{"internal/redact", "tools/budget", "tools/screen"}, "what a tool is, and the pipeline"},
	"tools/budget":                       {150, nil, "a leaf"},
	"tools/screen":                       {1800, []string{"tools/budget"}, "pure: text in, verdict out"},
	"tools/file":                         {2600, []string{"tools", "tools/budget", "tools/screen"}, "one family; what enters prompts is screened"},
	"tools/guide":                        {600, []string{"tools"}, "one family"},
	"tools/job":                          {650, []string{"tools"}, "one family"},
	"tools/message":                      {300, []string{"tools"}, "one family"},
	"tools/recall":                       {350, []string{"tools"}, "one family"},
	"tools/self":                         {300, []string{"tools"}, "one family"},
	"tools/exec":                         {3300, []string{"tools", "tools/budget", "tools/sandbox", "tools/exec/command"}, "one family"},
	"tools/exec/command":                 {2000, []string{"tools/budget"}, "pure rules"},
	"tools/mcp":                          {3450, []string{"tools", "tools/budget", "tools/sandbox", "internal/httpclient"}, "one family"},
	"tools/plugin":                       {850, []string{"tools", "tools/sandbox"}, "one family"},
	"tools/web":                          {3550, []string{"tools", "tools/sandbox", "internal/httpclient"}, "one family"},
	"tools/sandbox":                      {3300, []string{"tools"}, "runs a process, confined"},
	"skills":                             {50, nil, "embedded files"},
	"engine":                             {16050, []string{"gateway", "tools", "tools/guide", "tools/job", "tools/mcp", "tools/message", "tools/recall", "tools/screen", "tools/self", "tools/web", "engine/internal/...", "internal/redact", "internal/httpclient"}, "turns and delivery"},
	"engine/internal/jobs":               {2400, []string{"engine/internal/store"}, "what is due, and when"},
	"engine/internal/llm":                {950, []string{"internal/httpclient"}, "the words of a model call"},
	"engine/internal/llm/anthropic":      {900, []string{"engine/internal/llm", "engine/internal/llm/wire"}, "one wire"},
	"engine/internal/llm/llmtest":        {0, []string{"engine/internal/llm", "internal/llamatest"}, "plays recorded answers to the wires"},
	"engine/internal/llm/ollama":         {550, []string{"engine/internal/llm", "engine/internal/llm/wire"}, "one wire"},
	"engine/internal/llm/openai":         {1000, []string{"engine/internal/llm", "engine/internal/llm/wire"}, "one wire"},
	"engine/internal/llm/script":         {450, []string{"engine/internal/llm"}, "one wire"},
	"engine/internal/llm/wire":           {1900, []string{"engine/internal/llm"}, "what the wires share"},
	"engine/internal/store":              {7100, []string{"engine/internal/llm", "internal/redact"}, "everything kept"},
	"engine/internal/embed":              {2300, nil, "text to vector"},
	"engine/internal/memory":             {3400, []string{"engine/internal/store", "engine/internal/llm"}, "remember and recall"},
	"engine/internal/workspace":          {950, []string{"tools/screen"}, "reads a folder; what enters prompts is screened"},
	"internal/redact":                    {700, nil, "a leaf"},
	"internal/httpclient":                {550, nil, "a leaf"},
	"internal/telegramtest":              {0, nil, "a fake knows nothing of ours"},
	"internal/telegramtest/faketelegram": {0, []string{"internal/telegramtest"}, "the fake as a program"},
	"internal/dnstest":                   {0, nil, "a fake knows nothing of ours"},
	"internal/llamatest":                 {0, nil, "a server of others knows nothing of ours"},
	"internal/needs":                     {0, nil, "a leaf, for tests"},
	"internal/modeltest":                 {0, nil, "a fake knows nothing of ours"},
	"internal/modeltest/fakemodel":       {0, []string{"internal/modeltest"}, "the fake in a process of its own"},
	"scripts/notrun":                     {0, nil, "reads what go test writes"},
	"scripts/mutants":                    {0, nil, "tests the tests"},
	"workspace-template":                 {50, nil, "embedded files"},
	"doc":                                {50, nil, "embedded files"},
	"cmd/klawbot/internal/config":        {2850, []string{"cmd/klawbot/internal/usage", "engine", "gateway", "gateway/console", "gateway/telegram", "tools", "tools/exec", "tools/exec/command", "tools/mcp", "tools/sandbox", "tools/self", "tools/web", "internal/redact", "internal/httpclient", "whitelist"}, "the configuration; it knows whose settings it reads"},
	"cmd/klawbot/internal/terminal":      {620, []string{"internal/redact", "gateway/console"}, "speaks with a person"},
	"cmd/klawbot/internal/yamledit":      {530, nil, "a leaf"},
	"cmd/klawbot/internal/configedit":    {560, []string{"cmd/klawbot/internal/config", "cmd/klawbot/internal/usage", "cmd/klawbot/internal/yamledit", "gateway", "internal/redact", "tools", "tools/self", "whitelist"}, "edits of the configuration, proven"},
	"cmd/klawbot/internal/bot":           {1440, []string{"cmd/klawbot/internal/config", "cmd/klawbot/internal/configedit", "cmd/klawbot/internal/terminal", "cmd/klawbot/internal/usage", "doc", "engine", "gateway", "gateway/console", "gateway/telegram", "internal/httpclient", "internal/redact", "skills", "tools", "tools/exec", "tools/file", "tools/mcp", "tools/plugin", "tools/sandbox", "tools/self", "tools/web", "whitelist", "workspace-template"}, "wiring"},
	"cmd/klawbot/internal/setup":         {710, []string{"cmd/klawbot/internal/bot", "cmd/klawbot/internal/config", "cmd/klawbot/internal/configedit", "cmd/klawbot/internal/terminal", "cmd/klawbot/internal/usage", "engine", "gateway/telegram", "internal/httpclient", "internal/redact"}, "a first configuration"},
	"cmd/klawbot/internal/usage":         {20, nil, "a leaf"},
	"cmd/klawbot":                        {3500, []string{"cmd/klawbot/internal/...", "engine", "gateway", "internal/redact", "tools", "tools/job", "tools/mcp", "tools/recall", "tools/sandbox", "tools/screen", "whitelist"}, "the commands"},
}

// home says which packages may import a library, and why more than one.
var home = map[string][]string{
	"github.com/go-telegram/bot":                   {"gateway/telegram"},
	"github.com/yuin/goldmark":                     {"gateway/telegram"},
	"github.com/mattn/go-sqlite3":                  {"engine/internal/store"},
	"github.com/asg017/sqlite-vec-go-bindings":     {"engine/internal/store"},
	"github.com/go-co-op/gocron":                   {"engine/internal/jobs"},
	"github.com/gofrs/flock":                       {"engine/internal/store"},
	"github.com/tmaxmax/go-sse":                    {"engine/internal/llm/wire"},
	"github.com/google/go-cmp":                     {"engine/internal/llm/llmtest"},
	"github.com/google/jsonschema-go":              {"tools"},
	"github.com/modelcontextprotocol/go-sdk":       {"tools/mcp"},
	"golang.org/x/oauth2":                          {"tools/mcp"},
	"github.com/santhosh-tekuri/jsonschema":        {"tools"},
	"github.com/knadh/koanf":                       {"cmd/klawbot/internal/config"},
	"github.com/spf13/cobra":                       {"cmd/klawbot"},
	"github.com/spf13/pflag":                       {"cmd/klawbot"},
	"github.com/goccy/go-yaml":                     {"cmd/klawbot/internal/yamledit"},
	"go.yaml.in/yaml":                              {"cmd/klawbot/internal/config", "engine/internal/workspace"}, // the configuration; the heads of skills
	"github.com/fsnotify/fsnotify":                 {"cmd/klawbot/internal/config"},
	"github.com/rivo/uniseg":                       {"gateway/telegram", "engine/internal/embed"}, // lengths of texts; characters of several code points
	"golang.org/x/term":                            {"cmd/klawbot/internal/terminal"},
	"codeberg.org/readeck/go-readability":          {"tools/web"},
	"github.com/JohannesKaufmann/html-to-markdown": {"tools/web"},
	"github.com/andybalholm/cascadia":              {"tools/web"},
	"github.com/chromedp":                          {"tools/web"},
	"mvdan.cc/sh":                                  {"tools/exec/command"},
	"golang.org/x/net":                             {"internal/httpclient", "internal/dnstest", "tools/web", "tools/sandbox"}, // names of hosts; DNS; pages and their alphabets; programs of the kernel's filter
	"golang.org/x/time":                            {"gateway/telegram"},
	"golang.org/x/sync":                            {"gateway", "gateway/telegram", "engine", "cmd/klawbot/internal/bot", "cmd/klawbot/internal/terminal"}, // the way goroutines are waited for
	"golang.org/x/text":                            {"gateway/telegram", "engine/internal/embed", "engine/internal/memory", "tools/screen"},                // each normalises its texts
	"github.com/kljensen/snowball":                 {"engine/internal/memory"},
	"github.com/yalue/onnxruntime_go":              {"engine/internal/embed"},
	"github.com/VictoriaMetrics/metrics":           {"engine"},
	"golang.org/x/sys":                             {"engine/internal/store", "internal/llamatest", "tools/sandbox", "cmd/klawbot/internal/bot"}, // each its own system calls
	"github.com/landlock-lsm/go-landlock":          {"tools/sandbox"},
	"github.com/elastic/go-seccomp-bpf":            {"tools/sandbox"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "../../...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 15 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "klawbot/")
		r, ok := allowed[name]
		if !ok {
			t.Errorf("package %s has no row in the table of allowed imports", name)
			continue
		}
		for _, imp := range p.Imports {
			if ours, is := strings.CutPrefix(imp, "klawbot/"); is {
				if !matches(r.imports, ours) {
					t.Errorf("%s (%s) may not import %s", name, r.why, ours)
				}
				continue
			}
			if !strings.Contains(strings.Split(imp, "/")[0], ".") {
				continue
			}
			checkHome(t, name, imp)
		}
	}
}

func checkHome(t *testing.T, name, imp string) {
	t.Helper()
	for library, homes := range home {
		if imp == library || strings.HasPrefix(imp, library+"/") {
			if !slices.Contains(homes, name) {
				t.Errorf("%s imports %s, whose home is %v", name, imp, homes)
			}
			return
		}
	}
	t.Errorf("%s imports %s, which has no home in the table", name, imp)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if prefix, tree := strings.CutSuffix(p, "..."); p == name || tree && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

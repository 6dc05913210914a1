//go:build bench

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// recallGoals are session hit@1, session recall@10 and turn recall@10 that the
// conversations of LoCoMo are held against.
var recallGoals = map[string][3]float64{"e5-small-v2": {0.72, 0.965, 0.84}, "all-minilm-l6-v2": {0.70, 0.96, 0.82}}

// TestRecall measures how well klawbot memory finds, through the command line:
// the conversations of LoCoMo in the folder $LOCOMO (26.json and so on), a set of
// notes and facts of our own, and one that nothing was ever chosen by: leave it so.
// $ASSETS holds the models.
func TestRecall(t *testing.T) {
	binary := buildBinary(t)
	assets := os.Getenv("ASSETS")
	sets, names := map[string][]dialogue{}, []string{"notes", "heldout"}
	for _, name := range names {
		sets[name] = []dialogue{readNotes(t, filepath.Join("testdata", "recall", name+".jsonl"))}
	}
	if dir := os.Getenv("LOCOMO"); dir != "" {
		sets["LoCoMo"], names = readLoCoMo(t, dir), append([]string{"LoCoMo"}, names...)
	} else {
		fmt.Println("no conversations: make bench-memory LOCOMO=FOLDER measures the files of github.com/snap-research/locomo, one conversation a file")
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 4, 3, ' ', 0)
	fmt.Fprintln(w, "set\tmodel\tmode\tsession hit@1\tsession recall@10\tturn recall@10\tquestions")
	for _, name := range names {
		for _, model := range []string{"e5-small-v2", "all-minilm-l6-v2"} {
			scores := map[string]score{}
			for _, d := range sets[name] {
				home := t.TempDir()
				prepareHome(t, home, assets, model)
				d.importInto(t, binary, home)
				for _, mode := range recallModes {
					scores[mode] = scores[mode].plus(d.ask(t, binary, home, mode))
				}
			}
			for _, mode := range recallModes {
				s := scores[mode]
				fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%d\n", name, model, mode, s.rate(s.first), s.rate(s.session), s.rate(s.turn), s.asked)
			}
			judge(t, name, model, scores)
		}
	}
	measureLanguages(t, binary, assets, w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	fmt.Println(out.String())
}

// languageGoal is the part of questions in a language whose answer is among the first
// ten, with the model of many languages.
const languageGoal = 0.90

// measureLanguages asks for the same notes in four languages. The model is in $ASSETS;
// where that lacks it, $EMBEDDINGS is the address of a server with OpenAI's interface
// that has it, for passages at passage/v1 and for questions at query/v1.
func measureLanguages(t *testing.T, binary, assets string, w io.Writer) {
	const model = "multilingual-e5-small"
	server := os.Getenv("EMBEDDINGS")
	if _, err := os.Stat(filepath.Join(assets, model)); err != nil && server == "" {
		fmt.Println("languages are not measured: no package registry has " + model + "; put it into " + assets)
		return
	}
	for _, language := range []string{"german", "russian", "chinese", "spanish"} {
		d := readNotes(t, filepath.Join("testdata", "recall", language+".jsonl"))
		home := t.TempDir()
		prepare := func(side string) {
			if server == "" {
				prepareHome(t, home, assets, model)
				return
			}
			text := fmt.Sprintf("memory: {embedding: {type: openai, model: %s, provider: e5}}\nmodels: {providers: {e5: {type: openai, baseURL: %q}}}\n", model, server+"/"+side+"/v1")
			if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		prepare("passage")
		d.importInto(t, binary, home)
		prepare("query")
		for _, mode := range recallModes {
			s := d.ask(t, binary, home, mode)
			fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%d\n", language, model, mode, s.rate(s.first), s.rate(s.session), s.rate(s.turn), s.asked)
			if mode == "hybrid" && s.rate(s.turn) < languageGoal {
				t.Errorf("%s: %.3f of the answers are found, want %v", language, s.rate(s.turn), languageGoal)
			}
		}
	}
}

var recallModes = []string{"hybrid", "keyword", "vector"}

// judge holds the hybrid search against the goals and against words alone.
func judge(t *testing.T, set, model string, scores map[string]score) {
	h, k := scores["hybrid"], scores["keyword"]
	if h.first < k.first || h.session < k.session || h.turn < k.turn {
		t.Errorf("%s, %s: hybrid %+v is below keyword %+v", set, model, h, k)
	}
	goal := recallGoals[model]
	if set == "LoCoMo" && (h.rate(h.first) < goal[0] || h.rate(h.session) < goal[1] || h.rate(h.turn) < goal[2]) {
		t.Errorf("%s, %s: hybrid %+v misses the goal %v", set, model, h, goal)
	}
}

// score counts the questions whose answer was found: its session first, its
// session among the first ten, the turn itself among the first ten.
type score struct{ first, session, turn, asked int }

func (s score) plus(o score) score {
	return score{s.first + o.first, s.session + o.session, s.turn + o.turn, s.asked + o.asked}
}

func (s score) rate(n int) float64 { return float64(n) / float64(max(s.asked, 1)) }

// dialogue is a set of memories with questions about them.
type dialogue struct {
	rows      []memoryRow
	questions []question
}

type memoryRow struct {
	Content   string    `json:"content"`
	Source    string    `json:"source"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// question is answered by any of some rows, which are of some sources.
type question struct {
	text           string
	rows, sessions map[string]bool
}

// readNotes reads notes and the questions that they answer. What has no content are
// messages that ask for nothing.
func readNotes(t *testing.T, name string) dialogue {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var d dialogue
	for line := range strings.Lines(string(text)) {
		var n struct {
			memoryRow
			Questions []string
		}
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatal(err)
		}
		if n.Content == "" {
			continue
		}
		d.rows = append(d.rows, n.memoryRow)
		for _, q := range n.Questions {
			d.questions = append(d.questions, question{q, map[string]bool{n.Content: true}, map[string]bool{n.Source: true}})
		}
	}
	return d
}

func readLoCoMo(t *testing.T, dir string) []dialogue {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s holds no conversations (*.json): %v", dir, err)
	}
	var all []dialogue
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file map[string]json.RawMessage
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		all = append(all, parseLoCoMo(t, file))
	}
	return all
}

// evidence is the id of a turn: D3:12 is the twelfth of the third session.
var evidence = regexp.MustCompile(`D(\d+):\d+`)

// unanswerable is the category of questions without an answer.
const unanswerable = 5

func parseLoCoMo(t *testing.T, file map[string]json.RawMessage) dialogue {
	t.Helper()
	read := func(key string, into any) {
		if err := json.Unmarshal(file[key], into); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	var d dialogue
	turns := map[string]string{}
	for k := 1; file[fmt.Sprintf("session_%d", k)] != nil; k++ {
		var said []struct {
			Speaker string `json:"speaker"`
			ID      string `json:"dia_id"`
			Text    string `json:"text"`
		}
		read(fmt.Sprintf("session_%d", k), &said)
		var when string
		read(fmt.Sprintf("session_%d_date_time", k), &when)
		at, err := time.Parse("3:04 pm on 2 January, 2006", when)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range said {
			turns[s.ID] = strings.TrimSpace(s.Speaker + ": " + s.Text)
			d.rows = append(d.rows, memoryRow{turns[s.ID], fmt.Sprintf("D%d", k), at})
		}
	}
	var asked []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	}
	read("qa", &asked)
	for _, a := range asked {
		q := question{a.Question, map[string]bool{}, map[string]bool{}}
		for _, e := range a.Evidence {
			for _, m := range evidence.FindAllStringSubmatch(e, -1) {
				q.rows[turns[m[0]]], q.sessions["D"+m[1]] = true, true
			}
		}
		if a.Category != unanswerable && len(q.sessions) > 0 {
			d.questions = append(d.questions, q)
		}
	}
	return d
}

// prepareHome makes the folder of a bot that has a model.
func prepareHome(t *testing.T, home, assets, model string) {
	t.Helper()
	text := fmt.Sprintf("memory: {embedding: {model: %s, runtime: %q, path: %q}}\n", model,
		filepath.Join(assets, "libonnxruntime.so"), filepath.Join(assets, model))
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func jsonLines[T any](t *testing.T, rows []T) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, r := range rows {
		if err := json.NewEncoder(&b).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func runIn(t *testing.T, binary, home string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "KLAWBOT_HOME="+home)
	cmd.Stdin = bytes.NewReader(stdin)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("klawbot %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return out
}

func (d dialogue) importInto(t *testing.T, binary, home string) {
	t.Helper()
	begun := time.Now()
	runIn(t, binary, home, jsonLines(t, d.rows), "memory", "import", "-")
	t.Logf("%d memories imported and embedded in %s", len(d.rows), time.Since(begun).Round(time.Millisecond))
}

// topOfSearch is how many turns are looked at to find ten sessions.
const topOfSearch = "100"

func (d dialogue) ask(t *testing.T, binary, home, mode string) (s score) {
	t.Helper()
	var queries []map[string]string
	for _, q := range d.questions {
		queries = append(queries, map[string]string{"query": q.text})
	}
	out := runIn(t, binary, home, jsonLines(t, queries), "memory", "search", "--json", "--top", topOfSearch, "--mode", mode, "--batch", "-")
	var answers []struct {
		Query string
		Hits  []struct{ Source, Content string }
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(queries) {
		t.Fatalf("%d answers to %d questions, %v", len(answers), len(queries), err)
	}
	for i, q := range d.questions {
		s.asked++
		seen := map[string]bool{}
		rows, sessions := false, false
		for k, h := range answers[i].Hits {
			seen[h.Source] = true
			rows = rows || k < 10 && q.rows[h.Content]
			sessions = sessions || len(seen) <= 10 && q.sessions[h.Source]
			if k == 0 && q.sessions[h.Source] {
				s.first++
			}
		}
		if rows {
			s.turn++
		}
		if sessions {
			s.session++
		}
	}
	return s
}

package memory_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// bag is an embedder of the words of a text: texts with the same words are near.
// It stands for a model where only the way of the vectors is tested.
type bag struct{ name string }

const dimensions = 64

func (b bag) Name() string                            { return b.name }
func (b bag) Dimensions(context.Context) (int, error) { return dimensions, nil }

func (b bag) Query(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, dimensions)
	for _, w := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New64a()
		h.Write([]byte(b.name + w))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(r.NormFloat64())
		}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum) + 1e-9)
	}
	return v, nil
}

func (b bag) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i], _ = b.Query(ctx, t)
	}
	return all, nil
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func write(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func save(t testing.TB, s *store.Store, m store.Memory) store.MemoryID {
	t.Helper()
	var id store.MemoryID
	write(t, s, func(tx *store.Tx) (err error) {
		id, _, _, err = memory.Save(tx, m, memory.ChunkSize{Size: 400, Overlap: 80})
		return err
	})
	return id
}

func contents(t testing.TB, m *memory.Memory, q memory.Query) []string {
	t.Helper()
	hits, err := m.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, h := range hits {
		all = append(all, h.Content)
	}
	return all
}

func newMemory(s *store.Store, e memory.Embedder) *memory.Memory {
	return memory.New(memory.Config{Store: s, Embedder: e, Log: slog.New(slog.DiscardHandler)})
}

// TestWhatIsSavedTwiceIsFoundOnce: the same text under the same source takes one of
// the places, and the older one is there when the newer one is forgotten.
func TestWhatIsSavedTwiceIsFoundOnce(t *testing.T) {
	s := openStore(t)
	var last store.MemoryID
	for range 3 {
		last = save(t, s, store.Memory{Content: "The boiler was serviced in May", Source: "manual"})
	}
	save(t, s, store.Memory{Content: "The boiler was serviced in May", Source: "house"})
	m := newMemory(s, nil)
	for range 2 {
		if got := contents(t, m, memory.Query{Text: "boiler", TopK: 2}); len(got) != 2 {
			t.Errorf("found %q", got)
		}
		write(t, s, func(tx *store.Tx) error { return memory.Forget(tx, last) })
		last--
	}
}

// TestWhatIsSavedOftenLeavesRoom: a text that is there many times takes no other's
// place, by words and by vectors.
func TestWhatIsSavedOftenLeavesRoom(t *testing.T) {
	s := openStore(t)
	save(t, s, store.Memory{Content: "the old boiler was sold with the house", Source: "manual"})
	for range 130 {
		save(t, s, store.Memory{Content: "the boiler runs", Source: "manual"})
	}
	for _, e := range []memory.Embedder{nil, bag{"a"}} {
		m := newMemory(s, e)
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, m, memory.Query{Text: "boiler runs"}); len(got) != 2 {
			t.Errorf("found %q", got)
		}
	}
}

func TestWordsAreFoundInThreeLanguages(t *testing.T) {
	s := openStore(t)
	for _, text := range []string{
		"Anna's birthday is on the 3rd of May.", "The wifi password hangs on the fridge.", "Running shoes: size 42.",
		"Ёлку покупаем у Петровых.", "Встречи с врачом по вторникам.", "naïve café in Lisbon",
		"我的钥匙在门口的盒子里。", "明天下午三点开会", "東京の天気", "안녕하세요 여러분",
		"我家有一只猫", "狗", "Der Schlüssel liegt in der Hauptstraße", "Smørrebrød i Łódź",
	} {
		save(t, s, store.Memory{Content: text, Source: text})
	}
	m := newMemory(s, nil)
	for query, want := range map[string]string{
		"when is Annas birthday?": "Anna's birthday", "runs": "Running shoes", "елка": "Ёлку", "встреча врача": "Встречи с врачом",
		"NAIVE CAFE": "naïve café", "钥匙在哪里": "我的钥匙", "什么时候开会": "明天下午三点开会", "天気": "東京の天気", "여러분": "안녕하세요",
		`"birthday" OR (wifi* NEAR`: "The wifi", "PASSWORD": "The wifi password",
		"猫": "我家有一只猫", "狗": "狗", "钥": "我的钥匙", "HAUPTSTRASSE": "Der Schlüssel", "smorrebrod": "Smørrebrød", "lodz": "Smørrebrød",
	} {
		got := contents(t, m, memory.Query{Text: query})
		if !anyHas(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	for _, e := range []memory.Embedder{nil, bag{"a"}} {
		m := newMemory(s, e)
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"!!! ??? \x00 \"", ""} {
			if got := contents(t, m, memory.Query{Text: query}); len(got) != 0 {
				t.Errorf("a query without words finds %q", got)
			}
		}
	}
}

func anyHas(all []string, part string) bool {
	for _, s := range all {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

func TestAChatFindsItsOwnAndWhatIsShared(t *testing.T) {
	s := openStore(t)
	save(t, s, store.Memory{Channel: "telegram", Chat: 1, Content: "secret of one", Source: "manual"})
	save(t, s, store.Memory{Channel: "telegram", Chat: 2, Content: "secret of two", Source: "manual"})
	save(t, s, store.Memory{Content: "secret of all", Source: "file"})
	for _, e := range []memory.Embedder{nil, bag{"a"}} {
		m := newMemory(s, e)
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			scope store.Scope
			want  string
		}{
			{store.Scope{Channel: "telegram", Chat: 1, Shared: true}, "[secret of all secret of one]"},
			{store.Scope{Channel: "telegram", Chat: 2}, "[secret of two]"},
			{store.Scope{Shared: true}, "[secret of all]"},
			{store.Scope{}, "[secret of all secret of one secret of two]"},
			{store.Scope{Source: "file"}, "[secret of all]"},
			{store.Scope{Until: time.Now().Add(-time.Hour)}, "[]"},
		} {
			got := contents(t, m, memory.Query{Text: "secret", Scope: c.scope})
			sortStrings(got)
			if fmt.Sprint(got) != c.want {
				t.Errorf("%+v finds %v, want %s", c.scope, got, c.want)
			}
		}
	}
}

func sortStrings(all []string) {
	for i := range all {
		for k := i; k > 0 && all[k] < all[k-1]; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
}

func TestTheSameKeyReplaces(t *testing.T) {
	s := openStore(t)
	save(t, s, store.Memory{Channel: "telegram", Chat: 1, Key: "car", Content: "blue Golf", Source: "manual"})
	save(t, s, store.Memory{Channel: "telegram", Chat: 1, Key: "car", Content: "red Polo", Source: "manual"})
	save(t, s, store.Memory{Channel: "telegram", Chat: 2, Key: "car", Content: "green Golf", Source: "manual"})
	m := newMemory(s, nil)
	if got := contents(t, m, memory.Query{Text: "golf"}); fmt.Sprint(got) != "[green Golf]" {
		t.Errorf("golf finds %q", got)
	}
	if got := contents(t, m, memory.Query{Text: "polo"}); fmt.Sprint(got) != "[red Polo]" {
		t.Errorf("polo finds %q", got)
	}
}

func TestWhatIsForgottenIsFoundByNothing(t *testing.T) {
	s := openStore(t)
	m := newMemory(s, bag{"a"})
	at := time.Now()
	var ids []store.MemoryID
	for _, text := range []string{"one apple", "two banana", "three cherry", "four date", "five elder"} {
		ids = append(ids, save(t, s, store.Memory{Content: text, Source: "list", CreatedAt: at}))
	}
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, m, memory.Query{Text: "cherry", Mode: memory.Keyword}); len(got) != 5 || got[0] != "three cherry" {
		t.Errorf("cherry finds %q, want it and its neighbours", got)
	}
	write(t, s, func(tx *store.Tx) error { return memory.Forget(tx, ids[2]) })
	if got := contents(t, m, memory.Query{Text: "cherry", Mode: memory.Keyword}); len(got) != 0 {
		t.Errorf("the forgotten cherry finds %q", got)
	}
	if got := contents(t, m, memory.Query{Text: "three cherry"}); anyHas(got, "cherry") {
		t.Errorf("the forgotten cherry is among %q", got)
	}
	if got := contents(t, m, memory.Query{Text: "banana", Mode: memory.Keyword}); len(got) != 4 {
		t.Errorf("banana finds %q, want it and its new neighbours", got)
	}
}

func TestNeighboursOfAnotherDayDoNotCount(t *testing.T) {
	s := openStore(t)
	at := time.Now()
	save(t, s, store.Memory{Content: "alpha", Source: "manual", CreatedAt: at})
	save(t, s, store.Memory{Content: "beta", Source: "manual", CreatedAt: at.Add(48 * time.Hour)})
	if got := contents(t, newMemory(s, nil), memory.Query{Text: "alpha"}); fmt.Sprint(got) != "[alpha]" {
		t.Errorf("alpha finds %q", got)
	}
}

func TestAnotherModelTakesOverWhenItsVectorsAreComplete(t *testing.T) {
	s := openStore(t)
	for i := range 200 {
		save(t, s, store.Memory{Content: fmt.Sprintf("note number %d about thing%d", i, i), Source: "manual"})
	}
	old := newMemory(s, bag{"old"})
	if err := old.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	m := newMemory(s, bag{"new"})
	half, cancel := context.WithCancel(t.Context())
	err := m.Embed(half, func(done int) {
		if done >= 100 {
			cancel()
		}
	})
	if err == nil {
		t.Fatal("a cancelled run says that it is complete")
	}
	if got := contents(t, m, memory.Query{Text: "thing150"}); len(got) == 0 || !strings.Contains(got[0], "thing150") {
		t.Errorf("in between thing150 finds %q", got)
	}
	if err := newMemory(s, bag{"new"}).Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var sets []store.VectorSet
	if err := s.Read(t.Context(), func(tx *store.Tx) (err error) { sets, err = tx.Vectors().VectorSets(); return err }); err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 || sets[0].Model != "new" || sets[0].State != store.SetUsed {
		t.Errorf("the sets are %+v, want the new one alone", sets)
	}
	if got := contents(t, m, memory.Query{Text: "thing42", Mode: memory.Vector, TopK: 1}); len(got) != 1 || !strings.Contains(got[0], "thing42 ") && !strings.HasSuffix(got[0], "thing42") {
		t.Errorf("the vectors find %q for thing42", got)
	}
}

// narrow is a bag with shorter vectors.
type narrow struct{ bag }

func (narrow) Dimensions(context.Context) (int, error) { return dimensions / 4, nil }

func (n narrow) Query(ctx context.Context, text string) ([]float32, error) {
	v, err := n.bag.Query(ctx, text)
	return v[:dimensions/4], err
}

func (n narrow) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	all, err := n.bag.Passages(ctx, texts)
	for i := range all {
		all[i] = all[i][:dimensions/4]
	}
	return all, err
}

// TestVectorsOfAnotherWidth: what is there is found while a model with shorter vectors
// takes over, when it has, and after the way back, by one memory that runs on and
// by a new one.
func TestVectorsOfAnotherWidth(t *testing.T) {
	s := openStore(t)
	for i := range 70 {
		save(t, s, store.Memory{Content: fmt.Sprintf("note number %d about thing%d", i, i), Source: "manual"})
	}
	for round, e := range []memory.Embedder{bag{"wide"}, narrow{bag{"narrow"}}, bag{"wide"}} {
		m := newMemory(s, e)
		finds := func(m *memory.Memory, mode memory.Mode) {
			t.Helper()
			if got := contents(t, m, memory.Query{Text: "thing42", Mode: mode}); len(got) == 0 || !anyHas(got, "thing42") {
				t.Errorf("round %d, %s: thing42 finds %q", round, mode, got)
			}
		}
		finds(m, memory.Hybrid) // by its words, while there are only vectors of another width
		if err := m.Embed(t.Context(), func(int) { finds(m, memory.Hybrid) }); err != nil {
			t.Fatal(err)
		}
		finds(m, memory.Vector)
		finds(newMemory(s, e), memory.Vector)
	}
}

// interrupted is a bag that lets something happen before it makes the first vectors.
type interrupted struct {
	bag
	once *sync.Once
	then func()
}

func (m interrupted) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	m.once.Do(m.then)
	return m.bag.Passages(ctx, texts)
}

// TestOthersEmbedMeanwhile: another process makes the same vectors, or forgets one of
// the texts. All that is there has its vector.
func TestOthersEmbedMeanwhile(t *testing.T) {
	s := openStore(t)
	var ids []store.MemoryID
	for i := range 10 {
		ids = append(ids, save(t, s, store.Memory{Content: fmt.Sprintf("note number %d about thing%d", i, i), Source: "manual"}))
	}
	for name, then := range map[string]func(){
		"embeds": func() {
			if err := newMemory(s, bag{"embeds"}).Embed(t.Context(), nil); err != nil {
				t.Error(err)
			}
		},
		"forgets": func() { write(t, s, func(tx *store.Tx) error { return memory.Forget(tx, ids[0]) }) },
	} {
		m := newMemory(s, interrupted{bag{name}, &sync.Once{}, then})
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := contents(t, m, memory.Query{Text: "note number 7 about thing7", Mode: memory.Vector}); len(got) < 9 || got[0] != "note number 7 about thing7" {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// TestAnAbandonedModelLeavesNothing: who goes back to the model before, half way, has
// its vectors alone.
func TestAnAbandonedModelLeavesNothing(t *testing.T) {
	s := openStore(t)
	for i := range 100 {
		save(t, s, store.Memory{Content: fmt.Sprintf("note number %d about thing%d", i, i)})
	}
	if err := newMemory(s, bag{"old"}).Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	half, cancel := context.WithCancel(t.Context())
	if err := newMemory(s, bag{"new"}).Embed(half, func(int) { cancel() }); err == nil {
		t.Fatal("a cancelled run says that it is complete")
	}
	if err := newMemory(s, bag{"old"}).Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var sets []store.VectorSet
	if err := s.Read(t.Context(), func(tx *store.Tx) (err error) { sets, err = tx.Vectors().VectorSets(); return err }); err != nil || len(sets) != 1 || sets[0].Model != "old" {
		t.Errorf("the sets are %+v, %v", sets, err)
	}
}

// refusal is the error of a server, about one text or about none.
type refusal bool

func (r refusal) Error() string { return "the server answers 500" }
func (r refusal) Refusal() bool { return bool(r) }

// choosy is a bag that refuses all texts with a word, and whatever comes with them, and
// is gone when it is asked for one with another word.
type choosy struct {
	bag
	word, end string
}

func (c choosy) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	switch {
	case anyHas(texts, c.word):
		return nil, refusal(true)
	case c.end != "" && anyHas(texts, c.end):
		return nil, refusal(false)
	}
	return c.bag.Passages(ctx, texts)
}

// TestARefusedTextKeepsNoOtherFromItsVector: what a server refuses is found by words,
// and all others by meaning. One that refuses everything is said to.
func TestARefusedTextKeepsNoOtherFromItsVector(t *testing.T) {
	s := openStore(t)
	for _, text := range []string{"huge one", "huge two", "a small bird", "huge three", "a small cat"} {
		save(t, s, store.Memory{Content: text, Source: text})
	}
	m := newMemory(s, choosy{bag{"a"}, "huge", ""})
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, m, memory.Query{Text: "small", Mode: memory.Vector}); len(got) != 2 {
		t.Errorf("by vectors: %q", got)
	}
	if got := contents(t, m, memory.Query{Text: "huge"}); len(got) != 5 {
		t.Errorf("by both: %q", got)
	}
	for name, c := range map[string]choosy{"refuses everything": {bag{"b"}, "", ""}, "disappears": {bag{"b"}, "huge", "cat"}} {
		if err := newMemory(s, c).Embed(t.Context(), nil); err == nil {
			t.Errorf("one that %s is not noticed", name)
		}
	}
}

// TestManyRefusedTextsKeepNoLaterOneFromItsVector: a bot that starts again looks once
// more at what was refused, and goes on.
func TestManyRefusedTextsKeepNoLaterOneFromItsVector(t *testing.T) {
	s := openStore(t)
	for i := range 10 {
		save(t, s, store.Memory{Content: fmt.Sprintf("huge thing%d", i)})
	}
	for i := range 2 {
		m := newMemory(s, choosy{bag{"a"}, "huge", ""})
		if i > 0 {
			save(t, s, store.Memory{Content: "a small bird"})
		}
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, m, memory.Query{Text: "small", Mode: memory.Vector}); len(got) != i {
			t.Errorf("by vectors: %q", got)
		}
	}
}

// looked is a bag that lets something happen while a search has the database open.
type looked struct {
	bag
	then *func()
}

func (l looked) Name() string {
	if then := *l.then; then != nil {
		*l.then = nil
		then()
	}
	return l.bag.Name()
}

// TestOthersSearchMeanwhile: a search that began before a text was there does not take
// it away from those that came after.
func TestOthersSearchMeanwhile(t *testing.T) {
	s := openStore(t)
	var then func()
	m := newMemory(s, looked{bag{"a"}, &then})
	embed := func(text string) {
		save(t, s, store.Memory{Content: text})
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	find := func() []string { return contents(t, m, memory.Query{Text: "late bird", Mode: memory.Vector}) }
	embed("early bird")
	then = func() {
		embed("late bird")
		find()
	}
	if got := find(); fmt.Sprint(got) != "[early bird]" {
		t.Errorf("who began before finds %q", got)
	}
	if got := find(); len(got) != 2 || got[0] != "late bird" {
		t.Errorf("who comes after finds %q", got)
	}
}

// TestAChatMovesWhileItIsSearched: it finds what it knows under its new id, and nobody
// does under the old one.
func TestAChatMovesWhileItIsSearched(t *testing.T) {
	s := openStore(t)
	var then func()
	m := newMemory(s, looked{bag{"a"}, &then})
	save(t, s, store.Memory{Channel: "telegram", Chat: -1, Content: "early bird"})
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	find := func(chat int64) []string {
		return contents(t, m, memory.Query{Text: "bird", Mode: memory.Vector, Scope: store.Scope{Channel: "telegram", Chat: chat}})
	}
	reloaded := make(chan struct{})
	then = func() {
		write(t, s, func(tx *store.Tx) error { return tx.Chats().MoveChat("telegram", -1, -100) })
		go func() {
			m.Reload()
			close(reloaded)
		}()
		for range 1000 {
			runtime.Gosched() // it would have reloaded by now, if it did not wait
		}
	}
	find(-1)
	<-reloaded
	if before, after := find(-1), find(-100); len(before) != 0 || len(after) != 1 {
		t.Errorf("the old id finds %q, the new one %q", before, after)
	}
}

// TestAServerChangesItsModel: a server has another model behind the same name, whose
// vectors are longer or shorter. Search goes by words until something is to be
// embedded; then all is, again.
func TestAServerChangesItsModel(t *testing.T) {
	for _, models := range [][2]memory.Embedder{{bag{"server"}, narrow{bag{"server"}}}, {narrow{bag{"server"}}, bag{"server"}}} {
		s := openStore(t)
		for i := range 70 {
			save(t, s, store.Memory{Content: fmt.Sprintf("note number %d about thing%d", i, i), Source: "manual"})
		}
		if err := newMemory(s, models[0]).Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		m := newMemory(s, models[1])
		if got, err := m.Search(t.Context(), memory.Query{Text: "thing42"}); err != nil || len(got) == 0 || got[0].Cosine != 0 || !strings.HasSuffix(got[0].Content, "thing42") {
			t.Errorf("before: %+v, %v", got, err)
		}
		if _, err := m.Probe(t.Context()); err != nil {
			t.Errorf("the doctor: %v", err)
		}
		save(t, s, store.Memory{Content: "a new one"})
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, m, memory.Query{Text: "number 42 about thing42", Mode: memory.Vector, TopK: 3}); !anyHas(got, "thing42") {
			t.Errorf("after: %q", got)
		}
		var sets []store.VectorSet
		if err := s.Read(t.Context(), func(tx *store.Tx) (err error) { sets, err = tx.Vectors().VectorSets(); return err }); err != nil || len(sets) != 1 {
			t.Errorf("the sets are %+v, %v", sets, err)
		}
	}
}

// TestVectorsWithinAScope: of a source that nearly all is from and of one that hardly
// anything is from, the nearest are found, and nothing of the other.
func TestVectorsWithinAScope(t *testing.T) {
	s := openStore(t)
	var batch []store.Memory
	for i := range 2000 {
		source := "many"
		if i%100 == 0 {
			source = "few"
		}
		batch = append(batch, store.Memory{Content: fmt.Sprintf("%s colour%d animal%d town%d", source, i%7, i%11, i%13), Source: source})
	}
	write(t, s, func(tx *store.Tx) error { return memory.SaveAll(tx, batch, memory.ChunkSize{Size: 400, Overlap: 80}) })
	m := newMemory(s, bag{"one"})
	if err := m.Embed(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for source, best := range map[string]string{"many": "colour3 animal4 town5", "few": "colour4 animal5 town1"} {
		found, err := m.Search(t.Context(), memory.Query{Text: "few many " + best, Mode: memory.Vector, Scope: store.Scope{Source: source}})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 10 || !slices.ContainsFunc(found, func(h memory.Hit) bool { return strings.HasSuffix(h.Content, best) }) {
			t.Errorf("of %s: %d hits, %+v", source, len(found), found)
		}
		for _, h := range found {
			if h.Source != source {
				t.Errorf("of %s: %+v", source, h)
			}
		}
	}
}

// measured is a bag that knows how near a text is: half the cosine with a query that is
// half as long.
type measured struct{ bag }

func (measured) Centred(_ context.Context, query []float32) ([]float32, error) {
	half := slices.Clone(query)
	for i := range half {
		half[i] /= 2
	}
	return half, nil
}

func (measured) Nearness(cosine float64) float64 { return cosine / 2 }

// TestHitsSayHowNearTheyAre: by what the embedder knows, by the cosine where it knows
// nothing, and only where somebody asks.
func TestHitsSayHowNearTheyAre(t *testing.T) {
	s := openStore(t)
	save(t, s, store.Memory{Content: "the boiler is broken"})
	for name, c := range map[string]struct {
		embedder memory.Embedder
		asked    bool
		want     func(cosine float64) float64
	}{
		"measured":     {measured{bag{"test"}}, true, func(c float64) float64 { return c / 4 }},
		"not measured": {bag{"test"}, true, func(c float64) float64 { return c }},
		"not asked":    {measured{bag{"test"}}, false, func(float64) float64 { return 0 }},
	} {
		m := newMemory(s, c.embedder)
		if err := m.Embed(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		hits, err := m.Search(t.Context(), memory.Query{Text: "boiler broken", Near: c.asked})
		if err != nil || len(hits) != 1 || hits[0].Cosine < 0.3 || math.Abs(hits[0].Near-c.want(hits[0].Cosine)) > 0.01 {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}

//go:build bench

package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/engine/internal/store/vectors"
)

// rivals are ways to find the nearest of many vectors.
type rivals struct {
	t       *testing.T
	db      *sql.DB
	centres [][]float32
	vectors [][]float32
	signs   [][]uint64
	bytes   [][]byte
}

const rivalDimensions = 384

// newRivals makes rows vectors that lie in clusters, as those of texts do, and a
// table for each way.
func newRivals(t *testing.T, rows int) *rivals {
	file := filepath.Join(t.TempDir(), "vectors.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(file, url.Values{"_query_only": {"false"}, "_journal_mode": {"WAL"}, "_cache_size": {"-512"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	a := &rivals{t: t, db: db}
	a.exec(`CREATE VIRTUAL TABLE floats USING vec0(v float[384])`)
	a.exec(`CREATE VIRTUAL TABLE bytes USING vec0(v int8[384])`)
	a.exec(`CREATE VIRTUAL TABLE bits USING vec0(v bit[384])`)
	a.exec(`CREATE TABLE coarse (id INTEGER PRIMARY KEY, v BLOB NOT NULL)`)
	a.exec(`CREATE TABLE exact (id INTEGER PRIMARY KEY, v BLOB NOT NULL)`)
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a.centres = append(a.centres, near(r, nil))
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for id := range rows {
		v := near(r, a.centres[r.IntN(len(a.centres))])
		a.add(v)
		for statement, value := range map[string]any{
			`INSERT INTO floats (rowid, v) VALUES (?, ?)`: vectors.Floats(v), `INSERT INTO bytes (rowid, v) VALUES (?, vec_int8(?))`: a.bytes[id],
			`INSERT INTO bits (rowid, v) VALUES (?, vec_bit(?))`: vectors.Signs(v), `INSERT INTO coarse (id, v) VALUES (?, ?)`: vectors.Coarse(v), `INSERT INTO exact (id, v) VALUES (?, ?)`: vectors.Floats(v),
		} {
			if _, err := tx.Exec(statement, id, value); err != nil {
				t.Fatal(statement, err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return a
}

// near is a random vector of length 1, near another one or anywhere.
func near(r *rand.Rand, centre []float32) []float32 {
	v := make([]float32, rivalDimensions)
	var sum float64
	for i := range v {
		x := r.NormFloat64()
		if centre != nil {
			x = 0.9*x/math.Sqrt(rivalDimensions) + float64(centre[i])
		}
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func (a *rivals) exec(statement string) {
	a.t.Helper()
	if _, err := a.db.Exec(statement); err != nil {
		a.t.Fatal(statement, err)
	}
}

// add keeps a vector in memory, with its signs and its bytes.
func (a *rivals) add(v []float32) {
	a.vectors = append(a.vectors, v)
	a.signs = append(a.signs, wordsOf(v))
	small := make([]byte, len(v))
	for i, x := range v {
		small[i] = byte(int8(max(-127, min(127, math.Round(float64(x)*127*4)))))
	}
	a.bytes = append(a.bytes, small)
}

func wordsOf(v []float32) []uint64 {
	words := make([]uint64, (len(v)+63)/64)
	for i, x := range v {
		if x > 0 {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return words
}

// ids runs a statement that returns ids.
func (a *rivals) ids(statement string, args ...any) (ids []int) {
	rows, err := a.db.Query(statement, args...)
	if err != nil {
		a.t.Fatal(statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			a.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	return ids
}

// rescored are the ten best of some, by exact vectors that are read from a table.
func (a *rivals) rescored(q []float32, ids []int) []int {
	return best(10, a.scores(`SELECT id, v FROM exact WHERE id IN (`+list(ids64(ids))+`)`, func(body []byte) float64 { return dotOf(vectors.FromFloats(body), q) }))
}

func ids64(ids []int) []int64 {
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = int64(id)
	}
	return all
}

type scored struct {
	id    int
	score float64
}

// scores are the scores of the vectors that a statement returns.
func (a *rivals) scores(statement string, score func(body []byte) float64) (all []scored) {
	rows, err := a.db.Query(statement)
	if err != nil {
		a.t.Fatal(statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var body sql.RawBytes
		if err := rows.Scan(&id, &body); err != nil {
			a.t.Fatal(err)
		}
		all = append(all, scored{id, score(body)})
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	return all
}

func best(n int, all []scored) []int {
	slices.SortFunc(all, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	ids := make([]int, min(n, len(all)))
	for i := range ids {
		ids[i] = all[i].id
	}
	return ids
}

func dotOf(a, b []float32) float64 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

func (a *rivals) inMemory(n int, score func(id int) float64) []int {
	all := make([]scored, len(a.vectors))
	for id := range all {
		all[id] = scored{id, score(id)}
	}
	return best(n, all)
}

// differLeast are the n vectors whose signs differ least from those of a query.
func (a *rivals) differLeast(q []float32, n int) []int {
	words := wordsOf(q)
	return a.inMemory(n, func(id int) float64 {
		differ := 0
		for i, w := range a.signs[id] {
			differ += bits.OnesCount64(w ^ words[i])
		}
		return -float64(differ)
	})
}

// weighed are the nearest of some vectors: the best 20 by the bytes of a table,
// rescored.
func (a *rivals) weighed(q []float32, near []int) []int {
	return a.rescored(q, best(20, a.scores(`SELECT id, v FROM coarse WHERE id IN (`+list(ids64(near))+`)`, func(body []byte) float64 { return vectors.Dot(body, q) })))
}

// TestAlternatives measures what else could find the nearest of ROWS vectors
// (100,000): the table of doc/tools/memory.md. With CGO_CFLAGS="-mavx
// -DSQLITE_VEC_ENABLE_AVX" sqlite-vec counts with AVX.
func TestAlternatives(t *testing.T) {
	rows, err := strconv.Atoi(os.Getenv("ROWS"))
	if err != nil {
		rows = 100_000
	}
	a := newRivals(t, rows)
	const queries = 20
	r := rand.New(rand.NewPCG(3, 4))
	var asked [][]float32
	var exact [][]int
	for range queries {
		q := near(r, a.centres[r.IntN(len(a.centres))])
		asked = append(asked, q)
		exact = append(exact, a.inMemory(10, func(id int) float64 { return dotOf(a.vectors[id], q) }))
	}
	for _, way := range []struct {
		name string
		find func(q []float32) []int
	}{
		{"vec0, floats", func(q []float32) []int {
			return a.ids(`SELECT rowid FROM floats WHERE v MATCH ? AND k = 10 ORDER BY distance`, vectors.Floats(q))
		}},
		{"vec0, bytes, 50 rescored", func(q []float32) []int {
			one := rivals{}
			one.add(q)
			return a.rescored(q, a.ids(`SELECT rowid FROM bytes WHERE v MATCH vec_int8(?) AND k = 50 ORDER BY distance`, one.bytes[0]))
		}},
		{"vec0, bits, 400 rescored", func(q []float32) []int {
			return a.rescored(q, a.ids(`SELECT rowid FROM bits WHERE v MATCH vec_bit(?) AND k = 400 ORDER BY distance`, vectors.Signs(q)))
		}},
		{"floats of a table, in Go", func(q []float32) []int {
			return best(10, a.scores(`SELECT id, v FROM exact`, func(body []byte) float64 { return dotOf(vectors.FromFloats(body), q) }))
		}},
		{"bytes of a table, in Go, 50 rescored", func(q []float32) []int {
			return a.rescored(q, best(50, a.scores(`SELECT id, v FROM coarse`, func(body []byte) float64 { return vectors.Dot(body, q) })))
		}},
		{"floats in memory", func(q []float32) []int {
			return a.inMemory(10, func(id int) float64 { return dotOf(a.vectors[id], q) })
		}},
		{"bytes in memory, 50 rescored", func(q []float32) []int {
			return a.rescored(q, a.inMemory(50, func(id int) float64 {
				var sum float32
				for i, b := range a.bytes[id] {
					sum += float32(int8(b)) * q[i]
				}
				return float64(sum)
			}))
		}},
		{"signs in memory, 400 weighed by bytes of a table, 20 rescored", func(q []float32) []int {
			return a.weighed(q, a.differLeast(q, 400))
		}},
		{"signs in memory, 900 weighed by the query's numbers, 150 by bytes of a table, 20 rescored (what klawbot does)", func(q []float32) []int {
			var all []scored
			for _, id := range a.differLeast(q, 900) {
				var sum float32
				for i, x := range q {
					if a.signs[id][i/64]>>(i%64)&1 == 1 {
						sum += x
					}
				}
				all = append(all, scored{id, float64(sum)})
			}
			return a.weighed(q, best(150, all))
		}},
	} {
		var took []time.Duration
		same := 0
		for i, q := range asked {
			begun := time.Now()
			found := way.find(q)
			took = append(took, time.Since(begun))
			for _, id := range found {
				if slices.Contains(exact[i], id) {
					same++
				}
			}
		}
		slices.Sort(took)
		fmt.Printf("%-110s p50 %8s  recall@10 %.3f\n", way.name, took[queries/2].Round(10*time.Microsecond), float64(same)/(10*queries))
	}
}

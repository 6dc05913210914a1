package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/engine/internal/embed"
	"klawbot/internal/modeltest"
)

// remote is a Remote before a fake server whose connections work in a bubble.
func remote(t *testing.T, key string) (*modeltest.Server, *embed.Remote) {
	t.Helper()
	server, dial := modeltest.StartPipe("sk-right")
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return server, embed.NewRemote(embed.RemoteConfig{
		HTTP: &http.Client{Transport: transport}, BaseURL: server.URL + "/v1/", APIKey: key, Model: "text-embedding-3-small",
	})
}

func TestRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, r := remote(t, "sk-right")
		if n, err := r.Dimensions(t.Context()); err != nil || n != modeltest.EmbeddingSize {
			t.Errorf("%d dimensions, %v", n, err)
		}
		texts := make([]string, 150)
		for i := range texts {
			texts[i] = fmt.Sprintf("text number %d", i)
		}
		before := server.Total()
		all, err := r.Passages(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if n := server.Total() - before; n != 3 {
			t.Errorf("%d requests for %d texts, want batches", n, len(texts))
		}
		for i, v := range all {
			for k, x := range modeltest.Embedding(texts[i]) {
				if math.Abs(float64(v[k]-x/2)) > 1e-6 { // its length is brought to 1
					t.Fatalf("text %d has the vector %v", i, v)
				}
			}
		}
		if n, err := r.Dimensions(t.Context()); err != nil || n != modeltest.EmbeddingSize || server.Total() != before+3 {
			t.Errorf("the dimensions are asked for again: %d, %v", n, err)
		}
	})
}

func TestRemoteTriesAgainWhatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, r := remote(t, "sk-right")
		server.PushEmbeddings(
			modeltest.RateLimited(20*time.Second), modeltest.HTML(http.StatusBadGateway), modeltest.Reply{Fault: modeltest.ResetBefore},
		)
		began := time.Now()
		if _, err := r.Passages(t.Context(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 26*time.Second { // 20 that the server asked for, then 2 and 4
			t.Errorf("it took %s", took)
		}
	})
}

func TestRemoteGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		key     string
		replies []modeltest.Reply
		want    string
		query   bool
		asked   int
	}{
		"a wrong key":            {key: "sk-wrong", want: "Incorrect API key", asked: 1},
		"a refusal":              {key: "sk-right", replies: []modeltest.Reply{modeltest.Error(400, "no such model")}, want: "no such model", asked: 1},
		"a wait that is long":    {key: "sk-right", replies: []modeltest.Reply{modeltest.RateLimited(time.Hour)}, want: "Rate limit", asked: 1},
		"a query waits for none": {key: "sk-right", replies: []modeltest.Reply{modeltest.Error(503, "busy")}, want: "busy", query: true, asked: 1},
		"a query that stalls":    {key: "sk-right", replies: []modeltest.Reply{{Fault: modeltest.StallBefore}}, want: "deadline", query: true, asked: 1},
		"vectors that lack":      {key: "sk-right", replies: []modeltest.Reply{{Body: `{"data": []}`}}, want: "lacks a vector", asked: 1},
		"an index that is off":   {key: "sk-right", replies: []modeltest.Reply{{Body: `{"data": [{"index": 7, "embedding": [1]}]}`}}, want: "does not fit", asked: 1},
		"a server that fails":    {key: "sk-right", replies: []modeltest.Reply{modeltest.Error(500, "ill"), modeltest.Error(500, "ill"), modeltest.Error(500, "ill"), modeltest.Error(500, "ill")}, want: "ill", asked: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, r := remote(t, c.key)
				server.PushEmbeddings(c.replies...)
				var err error
				if c.query {
					_, err = r.Query(t.Context(), "a")
				} else {
					_, err = r.Passages(t.Context(), []string{"a"})
				}
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sk-") {
					t.Errorf("the error is %v, want one about %s", err, c.want)
				}
				if n := server.Total(); n != c.asked {
					t.Errorf("asked %d times, want %d", n, c.asked)
				}
			})
		})
	}
}

// refusing is an error that knows whether it may be about one text.
type refusing interface {
	error
	Refusal() bool
}

// TestRefusals: what a server says of one text is told apart from what it says of
// itself.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, r := remote(t, "sk-right")
		for code, want := range map[int]bool{400: true, 413: true, 422: true, 500: true, 401: false, 404: false, 429: false, 502: false, 503: false} {
			server.PushEmbeddings(modeltest.Error(code, "no"))
			_, err := r.Query(t.Context(), "a")
			if e, ok := errors.AsType[refusing](err); !ok || e.Refusal() != want {
				t.Errorf("%d: %v", code, err)
			}
		}
	})
}

func TestRemoteEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, r := remote(t, "sk-right")
		server.PushEmbeddings(modeltest.RateLimited(50 * time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := r.Passages(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

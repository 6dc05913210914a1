package standby

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// store is a strict S3 store with one bucket; a page of a list has two names.
type store struct {
	mu      sync.Mutex
	objects map[string]string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ours := strings.CutPrefix(r.URL.Path, "/klawbot/")
	if r.Header.Get("X-Amz-Content-Sha256") == "" || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	body, there := s.objects[name]
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/klawbot":
		s.list(w, r)
	case !ours:
		w.WriteHeader(http.StatusBadRequest)
	case r.Method == http.MethodPut && there && r.Header.Get("If-None-Match") == "*":
		w.WriteHeader(http.StatusPreconditionFailed)
	case r.Method == http.MethodPut:
		text, _ := io.ReadAll(r.Body)
		s.objects[name] = string(text)
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = io.WriteString(w, body)
	}
}

func (s *store) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var names []string
	for name := range s.objects {
		if strings.HasPrefix(name, q.Get("prefix")) && name > q.Get("continuation-token") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	type content struct{ Key string }
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []content
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
	}
	for _, name := range names[:min(2, len(names))] {
		page.Contents = append(page.Contents, content{name})
	}
	if page.IsTruncated = len(names) > 2; page.IsTruncated {
		page.NextContinuationToken = names[1]
	}
	_ = xml.NewEncoder(w).Encode(page)
}

func bucketOf(t *testing.T) place {
	server := httptest.NewServer(&store{objects: map[string]string{}})
	t.Cleanup(server.Close)
	return newPlace(Config{To: "s3://klawbot/some/where", Endpoint: server.URL, AccessKeyID: "key", SecretAccessKey: "secret"})
}

// TestPlaces holds both kinds of place to the same contract.
func TestPlaces(t *testing.T) {
	for name, p := range map[string]place{"directory": newPlace(Config{To: t.TempDir()}), "bucket": bucketOf(t)} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if _, err := read(ctx, p, marker); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("read of nothing: %v", err)
			}
			for _, name := range []string{marker, "lease/1", "lease/2", "lease/3", "leased/4", "a b/ö+%"} {
				if err := p.put(ctx, name, text([]byte("of "+name)), name != marker); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.put(ctx, "lease/2", text([]byte("other")), true); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a second fresh put: %v", err)
			}
			if err := p.put(ctx, "lease/1", text([]byte("new")), false); err != nil {
				t.Error(err)
			}
			for name, want := range map[string]string{"lease/1": "new", "lease/2": "of lease/2", "a b/ö+%": "of a b/ö+%"} {
				if got, err := read(ctx, p, name); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			if got, err := p.list(ctx, "lease"); err != nil || !slices.Equal(got, []string{"lease/1", "lease/2", "lease/3"}) {
				t.Errorf("list: %q, %v", got, err)
			}
			if err := errors.Join(p.remove(ctx, "lease/1"), p.remove(ctx, "lease/1")); err != nil {
				t.Error(err)
			}
			if got, err := p.list(ctx, "nothing"); err != nil || len(got) > 0 {
				t.Errorf("list of nothing: %q, %v", got, err)
			}
		})
	}
}

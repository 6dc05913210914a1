package modeltest_test

import (
	"net/http"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
)

func TestEmbeddings(t *testing.T) {
	s := modeltest.Start("")
	defer s.Close()
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"model": "m", "input": "one"}`, 200, `"embedding":[0,`},
		{`{"model": "m", "input": ["one", "two"], "encoding_format": "base64"}`, 200, `"embedding":"AAAA`},
		{`{"model": "m", "input": []}`, 400, "1 to 2048"},
		{`{"model": "m", "input": [""]}`, 400, "empty string"},
		{`{"model": "m", "input": 7}`, 400, "must be a string"},
		{`{"input": "one"}`, 400, "model parameter"},
		{`{"model": "m", "input": "one", "odd": 1}`, 400, "unknown field"},
		{`{"model": "m", "input": "one", "encoding_format": "hex"}`, 400, "float or base64"},
	} {
		resp, body, err := post(t, http.DefaultClient, s.URL+"/v1/embeddings", "", c.body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s is answered with %d %.300s, want %d and %s", c.body, resp.StatusCode, body, c.status, c.want)
		}
	}
}

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error)
	go func() { done <- run(ctx, []string{"-token", "7:x", "-bot", "mybot"}, in) }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(strings.TrimSpace(url) + "/bot7:x/getMe")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `"username":"mybot"`) {
		t.Errorf("%s, %v", body, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-listen", "nowhere"}, {"-colour"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

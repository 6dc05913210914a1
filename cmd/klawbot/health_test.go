package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"klawbot/internal/telegramtest"
)

// withHealth makes a rig whose bot serves health and metrics on an address.
func withHealth(t *testing.T, listen string) *rig {
	t.Helper()
	r := newRig(t, "edit", 11)
	r.configure(`health: {listen: ""}`, fmt.Sprintf("health: {listen: %q}\nmetrics: {listen: %q}", listen, listen))
	return r
}

// configure replaces a part of the rig's configuration.
func (r *rig) configure(old, replacement string) {
	r.t.Helper()
	text, err := os.ReadFile(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		r.t.Fatalf("the configuration has no %q", old)
	}
	if err := os.WriteFile(r.config, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// freeAddress is a free address.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		// Below those that the system gives to others, and no port twice.
		address := fmt.Sprintf("127.0.0.1:%d", 20000+(firstPort+ports.Add(1))%12000)
		if ln, err := net.Listen("tcp", address); err == nil {
			_ = ln.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// firstPort is another one in each process, ports how many were handed out.
var firstPort, ports = rand.Int64N(12000), new(atomic.Int64)

func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestHealthAndMetricsPages(t *testing.T) {
	address := freeAddress(t)
	r := withHealth(t, address)
	r.model.Respond(worker(0))
	b := r.start("")
	r.telegram.User(11).Send("task 0")
	r.wait(b, "the task is answered", func(v telegramtest.State) bool { return answered(v, 11, 0) })
	for _, path := range []string{"/healthz", "/"} {
		code, body := get(t, "http://"+address+path)
		var w struct {
			OK     bool
			Faults []string
		}
		if err := json.Unmarshal([]byte(body), &w); err != nil || code != http.StatusOK || !w.OK || len(w.Faults) > 0 {
			t.Errorf("%s answers %d %s", path, code, body)
		}
	}
	if code, _ := get(t, "http://"+address+"/status"); code != http.StatusNotFound {
		t.Errorf("/status answers %d; it is for the socket", code)
	}
	code, body := get(t, "http://"+address+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics answers %d", code)
	}
	for _, want := range []string{
		`klawbot_turns_total{origin="person",state="done"} 1`,
		`klawbot_updates_total{channel="telegram"} 1`,
		`klawbot_deliveries_total{channel="telegram",outcome="sent"}`,
		`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="fake",gen_ai_request_model="test-model",gen_ai_token_type="input"} 3`,
		`gen_ai_client_operation_duration_seconds_count{`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{`,
		"klawbot_healthy 1\n", "klawbot_inbox_waiting 0\n", "klawbot_database_ok 1\n",
		`klawbot_channel_ok{channel="telegram"} 1`, `klawbot_last_poll_age_seconds{channel="telegram"}`,
		"process_resident_memory_bytes", "go_goroutines",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
	if shown := checkDashboard(t, body, false); shown < 20 {
		t.Errorf("the dashboard shows only %d metrics", shown)
	}
	for _, secret := range []string{"telegram_11", canaryKey, r.telegram.Token()} {
		if strings.Contains(body, secret) {
			t.Errorf("/metrics holds %s", secret)
		}
	}
	if t.Failed() {
		t.Logf("/metrics:\n%s", body)
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// checkDashboard checks that Grafana's example shows metrics and labels that exist: those
// of a standby, or the others. It returns how many it shows.
func checkDashboard(t *testing.T, page string, standby bool) (shown int) {
	t.Helper()
	text, err := os.ReadFile("../../doc/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			for _, m := range regexp.MustCompile(`([a-z_]+)\{job="\$job"\}`).FindAllStringSubmatch(target.Expr, -1) {
				if strings.HasPrefix(m[1], "klawbot_standby_") != standby {
					continue
				}
				shown++
				lines := regexp.MustCompile(`(?m)^`+m[1]+`[ {].*$`).FindAllString(page, -1)
				if len(lines) == 0 {
					t.Errorf("%q shows %s, which /metrics lacks", p.Title, m[1])
				}
				for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1) {
					if !strings.Contains(strings.Join(lines, "\n"), label[1]+`="`) {
						t.Errorf("%q names %s, which %s lacks", p.Title, label[1], m[1])
					}
				}
			}
		}
	}
	return shown
}

func TestTakenPortIsOneWarning(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	r := withHealth(t, ln.Addr().String())
	b := r.start("")
	r.wait(b, "it polls", func(v telegramtest.State) bool { return v.Polling() })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(b.log.String(), "health or metrics are not served"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, b.log)
	}
}

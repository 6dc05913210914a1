package protocol

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
)

func TestLimitsAndWhenTheyEnd(t *testing.T) {
	in5h := time.Now().Add(5 * time.Hour)
	about := func(d, want time.Duration) bool { return d > want-2*time.Minute && d <= want+time.Minute }
	for name, c := range map[string]struct {
		status int
		body   string
		header http.Header
		daily  bool
		wait   time.Duration
	}{
		"a header of a day":    {429, `{"error":{"message":"Rate limit reached"}}`, http.Header{"Retry-After": {"86400"}}, true, 24 * time.Hour},
		"a header of minutes":  {429, `{"error":{"message":"Rate limit reached"}}`, http.Header{"Retry-After": {"600"}}, false, 10 * time.Minute},
		"OpenAI":               {429, `{"error":{"message":"Rate limit reached for gpt-5 on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s."}}`, nil, true, 7*time.Minute + 12*time.Second},
		"OpenAI, a minute":     {429, `{"error":{"message":"Rate limit reached on tokens per min (TPM): Limit 3. Please try again in 20s. Your plan has 200 requests per day."}}`, nil, false, 20 * time.Second},
		"Groq":                 {429, `{"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 100000. Please try again in 1h23m4.4s.","code":"rate_limit_exceeded"}}`, nil, true, time.Hour + 23*time.Minute + 4400*time.Millisecond},
		"OpenRouter":           {429, fmt.Sprintf(`{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Reset":"%d"}}}}`, in5h.UnixMilli()), nil, true, 5 * time.Hour},
		"a header in ms":       {429, `{"error":"daily limit"}`, http.Header{"X-Ratelimit-Reset": {fmt.Sprint(in5h.UnixMilli())}}, true, 5 * time.Hour},
		"a header in seconds":  {429, `{"error":"daily limit"}`, http.Header{"X-Ratelimit-Reset": {fmt.Sprint(in5h.Unix())}}, true, 5 * time.Hour},
		"a header of duration": {429, `{"error":"requests per day"}`, http.Header{"X-Ratelimit-Reset-Requests": {"5h0m0s"}}, true, 5 * time.Hour},
		"hours in words":       {429, `{"error":"Daily quota used. Your quota will reset after 15h32m8s."}`, nil, true, 15*time.Hour + 32*time.Minute + 8*time.Second},
		"hours and minutes":    {429, `{"error":"Daily limit reached, try again in 3 hours and 20 minutes"}`, nil, true, 3*time.Hour + 20*time.Minute},
		"a date":               {429, fmt.Sprintf(`{"error":{"message":"Usage limit reached for the day. Your limit will reset at %s"}}`, in5h.UTC().Format("2006-01-02 15:04:05")), nil, false, 5 * time.Hour},
		"a date of a zone":     {429, fmt.Sprintf(`{"error":{"message":"daily cap, available again %s"}}`, in5h.Format(time.RFC3339)), nil, true, 5 * time.Hour},
		"minutes with a point": {429, `{"status_code":429,"message":"Your request count (1007) is over the allowed limit of 1000 per day - Upgrade your key, or retry after 1343.2 minutes"}`, nil, true, 22*time.Hour + 23*time.Minute},
		"Chinese":              {429, `{"error":{"message":"已达到每日调用限额"}}`, nil, true, 0},
		"Google, a day ends":   {429, `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"violations":[{"quotaMetric":"generativelanguage.googleapis.com/x","quotaId":"GenerateRequestsPerDayPerProject"}]},{"retryDelay":"34s"}]}}]`, nil, true, -1},
		"Google, a minute":     {429, `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded","details":[{"violations":[{"quotaMetric":"generativelanguage.googleapis.com/x","quotaId":"GenerateRequestsPerMinutePerProject"}]},{"retryDelay":"34s"}]}}]`, nil, false, 34 * time.Second},
		"Google, 403":          {403, `{"error":{"code":403,"message":"Daily Limit Exceeded","status":"dailyLimitExceeded"}}`, nil, true, 0},
	} {
		f := ReadFault(c.status, []byte(c.body))
		f.readLimit(c.header, time.Now())
		e := f.Classify()
		if e.Kind != llm.RateLimit || e.Daily != c.daily {
			t.Errorf("%s: %s, daily %v: %v", name, e.Kind, e.Daily, e)
		}
		if c.wait >= 0 && !about(e.RetryAfter, c.wait) || c.wait < 0 && (e.RetryAfter <= 34*time.Second || e.RetryAfter > 25*time.Hour) {
			t.Errorf("%s: wait %v, want %v", name, e.RetryAfter, c.wait)
		}
	}
	for _, body := range []string{`{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, `{"error":"out of credits"}`} {
		if e := ReadFault(429, []byte(body)).Classify(); e.Kind != llm.Quota {
			t.Errorf("%s: %v", body, e)
		}
	}
}

package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/engine/settings"
	"klawbot/tools/find"
	"klawbot/tools/sandbox"
)

// checks are what is allowed, by key; the name in a table is "*".
var checks = map[string]func(any) error{
	"channels.telegram.token":                   tokenForm,
	"channels.telegram.apiURL":                  apiAddress,
	"channels.telegram.groups.respond":          oneOf("mention", "all"),
	"channels.telegram.streaming":               oneOf("off", "edit", "draft"),
	"channels.telegram.strangers":               oneOf("ask", "off"),
	"channels.telegram.mode":                    oneOf("polling", "webhook"),
	"channels.telegram.rich":                    notYet,
	"channels.telegram.limits.perChatPerSecond": between(0, 1000),
	"channels.telegram.limits.groupPerMinute":   between(0, 10000),
	"channels.telegram.limits.globalPerSecond":  between(0, 10000),
	"channels.web.listen":                       listenAddress,
	"channels.web.signInDays":                   between(1, 3650),
	"channels.web.maxUploadBytes":               between(1, 2_000_000_000),
	"channels.web.public.url":                   publicAddress,
	"channels.web.public.proxies":               networks,
	"channels.web.public.hours":                 between(1, 8760),
	"agent.language":                            oneOf("en", "ru"),
	"agent.timezone":                            CheckTimezone,
	"agent.debounceMs":                          between(0, 60000),
	"agent.maxToolCallRounds":                   between(1, 100),
	"agent.maxConcurrentModelCalls":             between(1, 1000),
	"models.providers.*.type":                   oneOf("openai", "anthropic", "ollama", "managed", "script"),
	"models.providers.*.context":                between(0, 1_000_000),
	"models.providers.*.threads":                between(0, 1024),
	"models.providers.*.slots":                  between(0, 64),
	"models.providers.*.unloadAfterMinutes":     between(0, 100_000),
	"models.entries.*.maxTokens":                between(0, 1_000_000),
	"models.entries.*.contextBudget":            between(1000, 10_000_000),
	"models.entries.*.tools":                    oneOf(find.ShowAuto, find.ShowFew, find.ShowAll),
	"models.entries.*.vision":                   oneOf(settings.VisionAuto, settings.VisionOn, settings.VisionOff),
	"models.entries.*.prices":                   prices,
	"models.budget.perDayUSD":                   between(0, 1_000_000),
	"models.budget.perDayTokens":                between(0, 1_000_000_000),
	"models.timeoutSeconds":                     between(1, 3600),
	"models.retries":                            between(0, 10),
	"memory.embedding.type":                     oneOf("onnx", "openai", "off"),
	"memory.chunk.size":                         between(50, 2000),
	"memory.chunk.overlap":                      between(0, 1000),
	"memory.search.topK":                        between(1, 50),
	"memory.search.fusion":                      oneOf("score", "rrf"),
	"memory.autoRecall.topK":                    between(1, 20),
	"memory.autoRecall.maxTokens":               between(50, 10_000),
	"memory.autoRecall.minScore":                between(0, 1),
	"media.maxDownloadMB":                       between(1, 2000),
	"media.quotaMB":                             between(1, 10_000_000),
	"media.keepDays":                            between(0, 36500),
	"media.workers":                             between(1, 64),
	"media.images.maxSide":                      between(64, 8000),
	"media.images.maxPerRequest":                between(0, 100),
	"media.documents.pdf":                       oneOf("auto", "pdftotext", "pdfium", "off"),
	"media.documents.ocr":                       oneOf("auto", "off"),
	"media.documents.maxPages":                  between(1, 100_000),
	"media.documents.firstChars":                between(100, 1_000_000),
	"media.transcription.type":                  oneOf("auto", "local", "openai", "off"),
	"media.transcription.maxMinutes":            between(0.1, 600),
	"media.voice.type":                          oneOf("auto", "local", "openai", "off"),
	"media.voice.maxChars":                      between(1, 10_000),
	"context.window":                            between(1, 1000),
	"files.maxFileSizeBytes":                    between(1, 1<<30),
	"security.autonomy":                         oneOf("readonly", "supervised", "full"),
	"tools.maxShown":                            between(0, 1000),
	"tools.maxOutputChars":                      between(200, 1_000_000),
	"tools.approvalTimeoutSeconds":              between(1, 86400),
	"tools.exec.mode":                           oneOf("deny", "allowlist", "full"),
	"tools.exec.approvers":                      oneOf("owner", "anyone"),
	"tools.exec.allow":                          commandPatterns,
	"tools.exec.timeoutSeconds":                 between(1, 300),
	"tools.sandbox.type":                        oneOf(sandbox.Types()...),
	"tools.sandbox.memoryMB":                    between(16, 1_000_000),
	"tools.sandbox.cpus":                        between(0.01, 1024),
	"tools.sandbox.pids":                        between(4, 100_000),
	"tools.sandbox.timeSeconds":                 between(1, 3600),
	"tools.sandbox.diskMB":                      between(1, 1_000_000),
	"tools.sandbox.mounts":                      sandboxMounts,
	"tools.mcp.*.url":                           CheckAddress,
	"tools.mcp.*.show":                          oneOf("found", "always"),
	"tools.mcp.*.timeoutSeconds":                between(1, 3600),
	"tools.http.allowed_hosts":                  insideHosts,
	"tools.http.maxBodyBytes":                   between(1024, 5_000_000),
	"tools.search.backend":                      searchBackend,
	"tools.search.url":                          addressOrNone,
	"tools.policy.groups.allow":                 toolGroups,
	"tools.policy.groups.deny":                  toolGroups,
	"tools.policy.scheduled.groups.allow":       toolGroups,
	"tools.policy.scheduled.groups.deny":        toolGroups,
	"tools.policy.chats.*.groups.allow":         toolGroups,
	"tools.policy.chats.*.groups.deny":          toolGroups,
	"context.subagentRuns":                      between(0, 50),
	"context.compactAt":                         between(0, 1),
	"scheduler.misfireThresholdSeconds":         between(0, 86400),
	"scheduler.misfireGraceSeconds":             between(0, 366*86400),
	"scheduler.runTimeoutSeconds":               between(1, 86400),
	"scheduler.minIntervalSeconds":              between(1, 86400),
	"scheduler.maxSubagents":                    between(1, 100),
	"scheduler.runTokens":                       between(0, 1_000_000_000),
	"heartbeat.every":                           interval,
	"heartbeat.injectInto":                      chatWithChannel,
	"heartbeat.quietHours":                      quietHours,
	"heartbeat.perDayTokens":                    between(0, 1_000_000_000),
	"delivery.ambiguous":                        oneOf("resend", "hold"),
	"backup.everyHours":                         between(0, 8760),
	"backup.keep":                               between(1, 1000),
	"standby.to":                                replicaPlace,
	"standby.leaseSeconds":                      between(2, 3600),
	"standby.endpoint":                          addressOrNone,
	"health.listen":                             listenAddress,
	"metrics.listen":                            listenAddress,
	"log.level":                                 oneOf("debug", "info", "warn", "error"),
	"log.format":                                oneOf("text", "json"),
}

// check asks the rule for the key at path, if there is one.
func check(path []string, v any) error {
	names := slices.Clone(path)
	switch {
	case len(names) == 4 && names[0] == "models":
		names[2] = "*"
	case len(names) == 4 && names[0] == "tools" && names[1] == "mcp":
		names[2] = "*"
	case len(names) > 4 && names[1] == "policy" && names[2] == "chats":
		names[3] = "*"
	}
	if rule := checks[strings.Join(names, ".")]; rule != nil {
		return rule(v)
	}
	return nil
}

func oneOf(words ...string) func(any) error {
	return func(v any) error {
		if slices.Contains(words, v.(string)) {
			return nil
		}
		last := len(words) - 1
		return fmt.Errorf("must be %s or %s", strings.Join(words[:last], ", "), words[last])
	}
}

func between(low, high float64) func(any) error {
	return func(v any) error {
		var n float64
		switch v := v.(type) {
		case int:
			n = float64(v)
		case int64:
			n = float64(v)
		case float64:
			n = v
		}
		if n >= low && n <= high {
			return nil
		}
		return fmt.Errorf("must be %.0f to %.0f", low, high)
	}
}

// notYet is for what is known but cannot be turned on.
func notYet(v any) error {
	if v == true {
		return errors.New("must be false: it comes with a later version")
	}
	return nil
}

func prices(v any) error {
	for name, price := range v.(map[string]any) {
		known := slices.Contains([]string{"inputPerM", "outputPerM", "cachedPerM"}, name)
		n, err := strconv.ParseFloat(fmt.Sprint(price), 64)
		if !known || err != nil || n < 0 || n > 1_000_000 {
			return errors.New("must hold inputPerM, outputPerM and perhaps cachedPerM, in dollars for a million tokens")
		}
	}
	return nil
}

// CheckAddress wants the address of a server over HTTP.
func CheckAddress(v any) error {
	u, err := url.Parse(v.(string))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("must be an address such as https://api.example.com")
	}
	return nil
}

// methodAddress is an address with what the bot itself adds.
var methodAddress = regexp.MustCompile(`/bot(\d+:.*)?/?$`)

// apiAddress is the address of a Bot API server, to which the token is added.
func apiAddress(v any) error {
	if methodAddress.MatchString(v.(string)) {
		return errors.New("must end before /bot…, such as https://api.telegram.org; the token has a key of its own")
	}
	return CheckAddress(v)
}

// replicaPlace is where a standby finds the replica.
func replicaPlace(v any) error {
	to := v.(string)
	u, err := url.Parse(to)
	if to == "" || filepath.IsAbs(to) || err == nil && u.Scheme == "s3" && u.Host != "" {
		return nil
	}
	return errors.New("must be an absolute path or s3://BUCKET/PATH")
}

func listenAddress(v any) error {
	if v.(string) == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(v.(string))
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		return errors.New(`must be an address and a port such as 127.0.0.1:8991, or ""`)
	}
	return nil
}

// CheckTimezone wants the name of a time zone.
func CheckTimezone(v any) error {
	if _, err := time.LoadLocation(v.(string)); err != nil {
		return errors.New("must be a time zone such as Europe/Berlin or UTC")
	}
	return nil
}

var tokenPattern = regexp.MustCompile(`^\d+:\S+$`)

func tokenForm(v any) error { return CheckToken(v.(string)) }

// CheckToken wants the token of a bot, or nothing.
func CheckToken(token string) error {
	if token == "" || tokenPattern.MatchString(token) {
		return nil
	}
	return errors.New("does not look like a bot token, such as 123456:ABC-DEF (BotFather shows it)")
}

// crossCheck looks at what several keys say together. origins says where a key
// was given.
func crossCheck(c *Config, origins map[string]string) keys.Faults {
	var faults keys.Faults
	add := func(key, format string, args ...any) {
		faults.Add(origins[key], key, format, args...)
	}
	if err := c.Channels.Web.check(); err != nil {
		add("channels.web.listen", "%s", err)
	}
	if t := c.Channels.Telegram; t.Mode == "webhook" {
		if err := t.WebhookSettings().Check(); err != nil {
			key, text, _ := strings.Cut(err.Error(), " ")
			add("channels.telegram."+key, "%s", text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models.Providers)) {
		p := c.Models.Providers[name]
		if p.Type != "script" && p.BaseURL != "" && CheckAddress(p.BaseURL) != nil {
			add("models.providers."+name+".baseURL", "must be an address such as http://127.0.0.1:8000/v1, got %.80q", p.BaseURL)
		}
	}
	running := map[string]string{} // by managed provider
	for _, name := range slices.Sorted(maps.Keys(c.Models.Entries)) {
		e := c.Models.Entries[name]
		if c.Models.Providers[e.Provider].Type == managed {
			if other := running[e.Provider]; other != "" && other != e.Model {
				add("models.entries."+name+".provider", "%s runs one model; give %q another provider of the type managed", e.Provider, name)
			}
			running[e.Provider] = e.Model
		}
		if _, ok := c.Models.Providers[e.Provider]; !ok {
			add("models.entries."+name+".provider", "must be one of models.providers (%s), got %q", names(c.Models.Providers), e.Provider)
		}
		if e.Model == "" {
			add("models.entries."+name+".model", "must name a model of the provider")
		}
		if e.MaxTokens >= e.ContextBudget {
			add("models.entries."+name+".maxTokens", "must be below contextBudget (%d), got %d", e.ContextBudget, e.MaxTokens)
		}
	}
	if _, ok := c.Models.Entries[c.Models.Default]; !ok && c.Models.Default != "" {
		add("models.default", "must be one of models.entries (%s), got %q", names(c.Models.Entries), c.Models.Default)
	}
	if _, ok := c.Models.Entries[c.Models.Small]; !ok && c.Models.Small != "" {
		add("models.small", "must be one of models.entries (%s), got %q", names(c.Models.Entries), c.Models.Small)
	}
	if key, err := c.Tools.Search.missing(); err != nil {
		add("tools.search."+key, "%s", err)
	}
	for _, name := range c.Models.Fallback {
		if _, ok := c.Models.Entries[name]; !ok {
			add("models.fallback", "must name some of models.entries (%s), got %q", names(c.Models.Entries), name)
		}
	}
	if c.Models.Budget.PerDayUSD > 0 {
		for _, name := range c.Models.unpriced() {
			add("models.budget.perDayUSD", "counts money, so models.entries.%s needs prices: {inputPerM: …, outputPerM: …}", name)
		}
	}
	if b := c.Tools.Sandbox; b.Type == sandbox.TypeOff && b.Shell {
		add("tools.sandbox.shell", "needs tools.sandbox.type to be docker, bwrap or landlock")
	} else if b.Type == sandbox.TypeDocker && b.Image == "" {
		add("tools.sandbox.image", "must name an image with python3 and bash for docker, such as python:3-slim")
	}
	checkMemory(c, add)
	checkMedia(c, add)
	return slices.Concat(faults, checkPolicy(c, origins), checkServers(c, origins))
}

// unpriced lists the entries that the bot uses by itself and whose price is not
// known. What runs on one's own machine costs nothing.
func (m Models) unpriced() []string {
	var found []string
	for _, name := range append([]string{m.Default, m.Small}, m.Fallback...) {
		e := m.Entries[name]
		p := m.Providers[e.Provider]
		u, err := url.Parse(p.BaseURL)
		local := p.Type == "script" || p.Type == "ollama" || p.Type == managed || err == nil && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1")
		if p.usable() && e.prices() == nil && !local && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

func names[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

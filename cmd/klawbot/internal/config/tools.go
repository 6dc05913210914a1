package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/gateway"
	"klawbot/internal/httpclient"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/exec"
	"klawbot/tools/exec/command"
	"klawbot/tools/mcp"
	"klawbot/tools/rule"
	"klawbot/tools/sandbox"
	"klawbot/tools/web"
	"klawbot/whitelist"
)

func toolGroups(v any) error {
	known := []tools.Group{
		tools.GroupRuntime, tools.GroupFiles, tools.GroupNet, tools.GroupBrowser, tools.GroupMemory, tools.GroupSystem, tools.GroupMessage,
	}
	for _, name := range v.([]string) {
		if !slices.Contains(known, tools.Group(name)) {
			return fmt.Errorf("must hold some of %v, got %q", known, name)
		}
	}
	return nil
}

// PolicyChat is the text form of a chat in the policy; a bare number is
// Telegram's.
func PolicyChat(name string) (string, error) {
	channel, id, err := whitelist.ParseID(name)
	if err != nil {
		return "", err
	}
	if channel == "" {
		channel = "telegram"
	}
	return gateway.ChatID{Channel: channel, ID: id}.String(), nil
}

// checkPolicy finds what is wrong with the chats and the rules of the policy. A
// rule that cannot be used must not be left out in silence.
func checkPolicy(c *Config, origins map[string]string) keys.Faults {
	var faults keys.Faults
	named := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Tools.Policy.Chats)) {
		key := "tools.policy.chats." + name
		chat, err := PolicyChat(name)
		if err == nil && named[chat] != "" {
			err = fmt.Errorf("is the same chat as %s; keep one", named[chat])
		}
		if err != nil {
			faults.Add(origins[key], key, "%s", err.Error())
		}
		named[chat] = name
	}
	for i, r := range c.Tools.Rules {
		if _, err := r.rule(); err != nil {
			key := fmt.Sprintf("tools.rules.%d", i)
			faults.Add(origins[key], "tools.rules", "%s", err.Error())
		}
	}
	return faults
}

func (r ToolRule) rule() (rule.Rule, error) {
	return rule.New(r.Name, r.Tools, r.Arguments, r.Forbidden)
}

// policy is what the configuration lets the tools do. It has been checked.
func (c *Config) policy() tools.Policy {
	p := c.Tools.Policy
	policy := tools.Policy{
		Autonomy:  tools.Autonomy(c.Security.Autonomy),
		Everyone:  ToolLimits{p.Allow, p.Deny, p.Ask, p.Groups}.limits(),
		Scheduled: p.Scheduled.limits(),
		Chats:     map[string]tools.Limits{},

		AnyoneApproves: c.Tools.Exec.Approvers == "anyone",
	}
	for name, l := range p.Chats {
		if chat, err := PolicyChat(name); err == nil {
			policy.Chats[chat] = l.limits()
		}
	}
	for _, r := range c.Tools.Rules {
		if rule, err := r.rule(); err == nil {
			policy.Rules = append(policy.Rules, rule)
		}
	}
	return policy
}

func (l ToolLimits) limits() tools.Limits {
	return tools.Limits{
		Allow: l.Allow, Deny: l.Deny, Ask: l.Ask, AllowGroups: groupsOf(l.Groups.Allow), DenyGroups: groupsOf(l.Groups.Deny),
	}
}

func groupsOf(names []string) []tools.Group {
	groups := make([]tools.Group, len(names))
	for i, n := range names {
		groups[i] = tools.Group(n)
	}
	return groups
}

// harmless is the entry of tools.exec.allow that stands for the built-in list.
const harmless = "harmless"

// commandPatterns are patterns of commands, or the name of the built-in list.
func commandPatterns(v any) error {
	var faults []error
	for _, text := range v.([]string) {
		if _, err := command.NewPattern(text); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// ShellSettings is what the tool shell may run. The patterns have been checked.
func (c *Config) ShellSettings() exec.ShellSettings {
	e := c.Tools.Exec
	s := exec.ShellSettings{Mode: exec.Mode(e.Mode), Timeout: time.Duration(e.TimeoutSeconds) * time.Second}
	for _, text := range e.Allow {
		if text == harmless {
			s.Harmless = true
		} else if p, err := command.NewPattern(text); err == nil {
			s.Allow = append(s.Allow, p)
		}
	}
	return s
}

// Sandbox is where commands run: "off", "docker", "bwrap", "landlock" or
// "nsjail", and what bounds them there.
type Sandbox struct {
	Type        string   `koanf:"type"`
	Image       string   `koanf:"image"`
	Network     bool     `koanf:"network"`
	MemoryMB    int      `koanf:"memoryMB"`
	CPUs        float64  `koanf:"cpus"`
	Pids        int      `koanf:"pids"`
	TimeSeconds int      `koanf:"timeSeconds"`
	DiskMB      int      `koanf:"diskMB"`
	Mounts      []string `koanf:"mounts"`
	Shell       bool     `koanf:"shell"`
}

// defaultSandbox is the sandbox without a configuration: none.
func defaultSandbox() Sandbox {
	return Sandbox{Type: sandbox.TypeOff, MemoryMB: 256, CPUs: 1, Pids: 64, TimeSeconds: 30, DiskMB: 256}
}

func sandboxMounts(v any) error {
	for _, text := range v.([]string) {
		if _, err := sandbox.ParseMount(text); err != nil {
			return err
		}
	}
	return nil
}

// WebRequests bounds the tool http_request, and the hosts inside that it and the
// browser may reach.
type WebRequests struct {
	AllowedHosts []string `koanf:"allowed_hosts"`
	MaxBodyBytes int64    `koanf:"maxBodyBytes"`
}

// WebSearch is the server that web_search asks: "searxng", "brave" or "tavily".
type WebSearch struct {
	Backend string `koanf:"backend"`
	URL     string `koanf:"url"`
	APIKey  string `koanf:"apiKey" secret:"true"`
}

// Browser is the Chromium of the tool browser; empty is looked for in PATH.
type Browser struct {
	Path string `koanf:"path"`
}

func insideHosts(v any) error {
	_, err := httpclient.ParseHosts(v.([]string))
	return err
}

func searchBackend(v any) error {
	if v == "" || slices.Contains(web.Backends(), v.(string)) {
		return nil
	}
	return fmt.Errorf("must be %s, or empty", strings.Join(web.Backends(), " or "))
}

func addressOrNone(v any) error {
	if v == "" {
		return nil
	}
	return CheckAddress(v)
}

// missing says what the backend of the search needs, "" for nothing, and the
// key that it belongs to.
func (s WebSearch) missing() (key string, err error) {
	switch {
	case s.Backend == "searxng" && s.URL == "":
		return "url", errors.New("must be the address of your SearXNG, such as http://127.0.0.1:8888")
	case s.Backend != "" && s.Backend != "searxng" && s.APIKey == "":
		return "apiKey", fmt.Errorf("must be the key of your account at %s", s.Backend)
	}
	return "", nil
}

// AllowedHosts are the hosts inside that tools may reach, as config.yaml has
// them at this moment. While it has a fault, the last good ones are in force,
// and note says so.
func (l *Live) AllowedHosts(log *slog.Logger) (hosts []string, note string) {
	l.refresh(log)
	if l.Broken() != "" {
		note = "config.yaml has a fault; its last good tools.http.allowed_hosts are in force"
	}
	return l.Config().Tools.HTTP.AllowedHosts, note
}

// defaultServerTimeout bounds a call of an MCP server, in seconds.
const defaultServerTimeout = 30

// The types of grants by which an MCP server lets the bot in.
const (
	GrantPerson  = "authorization_code"
	GrantMachine = "client_credentials"
)

// servers are the MCP servers as the engine wants them.
func (c *Config) servers() map[string]mcp.Server {
	all := map[string]mcp.Server{}
	for name, s := range c.Tools.MCP {
		all[name] = mcp.Server{
			Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
			Client:          mcp.Client{ID: s.ClientID, Secret: s.ClientSecret, Issuer: s.Issuer, Machine: s.GrantType == GrantMachine},
			ProtocolVersion: s.ProtocolVersion,
			Timeout:         time.Duration(s.TimeoutSeconds) * time.Second, ReadOnly: s.ReadOnly, Always: s.Show == "always",
		}
	}
	return all
}

var (
	serverName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	versionForm  = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)

// ValidServerName says that an MCP server may have this name.
func ValidServerName(name string) bool { return serverName.MatchString(name) }

func checkServers(c *Config, origins map[string]string) keys.Faults {
	var faults keys.Faults
	for _, name := range slices.Sorted(maps.Keys(c.Tools.MCP)) {
		s := c.Tools.MCP[name]
		add := func(key, format string, args ...any) {
			key = strings.TrimSuffix("tools.mcp."+name+"."+key, ".")
			faults.Add(origins[key], key, format, args...)
		}
		if !ValidServerName(name) {
			add("", "must have a name of 1 to 32 of A-Z a-z 0-9 _ -")
		}
		if (s.Command == "") == (s.URL == "") {
			add("", "needs either command or url")
		}
		if s.URL == "" && len(s.Headers) > 0 {
			add("headers", "belong to a url")
		}
		if s.Command == "" && len(s.Args)+len(s.Env) > 0 {
			add("", "has args or env, which belong to a command")
		}
		checkClient(s, add)
		if s.ProtocolVersion != "" && !versionForm.MatchString(s.ProtocolVersion) {
			add("protocolVersion", "must be a version such as 2025-11-25")
		}
		for variable, value := range s.Env {
			if !variableName.MatchString(variable) || strings.ContainsRune(value, 0) {
				add("env", "must hold names of variables, such as {API_TOKEN: text}, got %.80q", variable)
			}
		}
		for header, value := range s.Headers {
			if !headerName.MatchString(header) || strings.ContainsAny(value, "\r\n\x00") {
				add("headers", "must hold names of headers, such as {Authorization: Bearer …}, got %.80q", header)
			}
		}
	}
	return faults
}

// checkClient finds what is wrong with the way to sign in at an MCP server.
func checkClient(s MCPServer, add func(key, format string, args ...any)) {
	secret := s.ClientSecret != "" || s.ClientSecretFile != ""
	switch {
	case s.ClientID == "" && (secret || s.Issuer != "" || s.GrantType == GrantMachine):
		add("clientId", "must be there for clientSecret, issuer and the grantType %s", GrantMachine)
	case s.ClientID != "" && s.URL == "":
		add("clientId", "belongs to a url")
	case secret && strings.HasPrefix(s.ClientID, "https://"):
		add("clientSecret", "belongs to a clientId that isn't an address")
	}
	switch {
	case s.GrantType != GrantPerson && s.GrantType != GrantMachine:
		add("grantType", "must be %s or %s, got %.80q", GrantPerson, GrantMachine, s.GrantType)
	case s.GrantType == GrantMachine && !secret:
		add("clientSecret", "must be there for the grantType %s", GrantMachine)
	}
	if u, err := url.Parse(s.Issuer); s.Issuer != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		add("issuer", "must be an address such as https://auth.example.com, got %.80q", s.Issuer)
	}
}

// secretName finds variables whose values are secret.
var secretName = regexp.MustCompile(`(?i)token|key|secret|password|passwd|auth|credential|cookie`)

// knowServerSecrets tells known what is secret in the MCP servers' sections.
func knowServerSecrets(c *Config, known *redact.Set) {
	for _, s := range c.Tools.MCP {
		for name, value := range s.Env {
			if secretName.MatchString(name) {
				known.Add(value)
			}
		}
		for _, value := range s.Headers {
			known.Add(value)
			if words := strings.Fields(value); len(words) > 1 {
				known.Add(words[len(words)-1]) // of "Bearer …"
			}
		}
	}
}

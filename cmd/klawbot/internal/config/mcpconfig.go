package config

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools/mcp"
)

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
			Timeout:         time.Duration(s.TimeoutSeconds) * time.Second, ReadOnly: s.ReadOnly,
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

// checkServers finds what is wrong with the MCP servers.
func checkServers(c *Config, origins map[string]string) []Fault {
	var faults []Fault
	for _, name := range slices.Sorted(maps.Keys(c.Tools.MCP)) {
		s := c.Tools.MCP[name]
		add := func(key, format string, args ...any) {
			key = strings.TrimSuffix("tools.mcp."+name+"."+key, ".")
			faults = append(faults, Fault{origins[key], key, fmt.Sprintf(format, args...)})
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
		add("clientSecret", "belongs to a clientId that is no address")
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

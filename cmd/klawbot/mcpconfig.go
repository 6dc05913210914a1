package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools/mcp"
)

// defaultServerTimeout bounds a call of an MCP server, in seconds.
const defaultServerTimeout = 30

// servers are the MCP servers as the engine wants them.
func (c *Config) servers() map[string]mcp.Server {
	all := map[string]mcp.Server{}
	for name, s := range c.Tools.MCP {
		all[name] = mcp.Server{
			Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers, ProtocolVersion: s.ProtocolVersion,
			Timeout: time.Duration(s.TimeoutSeconds) * time.Second, ReadOnly: s.ReadOnly,
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

// checkServers finds what is wrong with the MCP servers.
func checkServers(c *Config, places map[string]string) []Fault {
	var faults []Fault
	for _, name := range slices.Sorted(maps.Keys(c.Tools.MCP)) {
		s := c.Tools.MCP[name]
		add := func(key, format string, args ...any) {
			key = strings.TrimSuffix("tools.mcp."+name+"."+key, ".")
			faults = append(faults, Fault{places[key], key, fmt.Sprintf(format, args...)})
		}
		if !serverName.MatchString(name) {
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

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/internal/redact"
)

const (
	// maxSecretBytes bounds the file of a secret.
	maxSecretBytes = 64 << 10
	// minKey is the length from which an API key is a secret. A shorter one is a word
	// for a server that wants none, such as "ollama", which must not be masked in
	// everything that people and models read.
	minKey = 8
)

// readSecrets reads the secrets that stand in files of their own, and tells
// all secrets to known. It returns the files that it read.
func readSecrets(c *Config, origins map[string]string, known *redact.Set) (files []string, faults keys.Faults) {
	read := func(key string, value *string, file string) {
		from := origins[key]
		if file != "" && *value != "" {
			faults.Add(origins[key+"File"], key, "is given twice; keep either it or %sFile", key)
			return
		}
		if file != "" {
			from = origins[key+"File"]
			files = append(files, file)
			text, err := readSmall(file, maxSecretBytes)
			if err != nil {
				faults.Add(from, key+"File", "%v", err)
				return
			}
			if *value = string(text); keys.TrimSecret(*value) == "" {
				faults.Add(from, key+"File", "%s is empty", file)
			}
		}
		*value = keys.TrimSecret(*value)
		if flaw := secretFlaw(*value); flaw != "" {
			faults.Add(from, key, "%s", flaw)
		}
		if !strings.HasSuffix(key, ".apiKey") || len(*value) >= minKey {
			known.Add(*value)
		}
	}
	t := &c.Channels.Telegram
	read("channels.telegram.token", &t.Token, t.TokenFile)
	if err := tokenForm(t.Token); err != nil && origins["channels.telegram.token"] == "" { // not checked when it was read
		faults.Add(origins["channels.telegram.tokenFile"], "channels.telegram.token", "%v", err)
	}
	read("channels.telegram.webhook.secret", &t.Webhook.Secret, t.Webhook.SecretFile)
	for _, name := range slices.Sorted(maps.Keys(c.Models.Providers)) {
		p := c.Models.Providers[name]
		read("models.providers."+name+".apiKey", &p.APIKey, p.APIKeyFile)
		c.Models.Providers[name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools.MCP)) {
		m := c.Tools.MCP[name]
		read("tools.mcp."+name+".clientSecret", &m.ClientSecret, m.ClientSecretFile)
		c.Tools.MCP[name] = m
	}
	read("tools.search.apiKey", &c.Tools.Search.APIKey, "")
	read("standby.secretAccessKey", &c.Standby.SecretAccessKey, "")
	trimServers(c)
	knowServerSecrets(c, known)
	return files, faults
}

// secretFlaw says why a server would refuse a key or a token, which goes into a
// header or an address; "" for nothing.
func secretFlaw(secret string) string {
	if strings.HasPrefix(strings.ToLower(secret), "bearer ") {
		return `begins with "Bearer"; write the key alone`
	}
	for _, c := range secret {
		switch {
		case c == '\n' || c == '\r':
			return "holds a line break; a key is one line"
		case unicode.IsSpace(c):
			return "holds a blank; a key has none"
		case c < ' ' || c > '~':
			return fmt.Sprintf("holds the character %U, which no key has; copy it again", c)
		}
	}
	if placeholder.MatchString(secret) {
		return "is a placeholder; put the real one in its place"
	}
	return ""
}

// placeholder is what examples have instead of a key. A variable without braces is
// the same mistake: the shell would replace it, this file does not.
var placeholder = regexp.MustCompile(`(?i)^(\$[a-z_][a-z0-9_]*|%[a-z_][a-z0-9_]*%|<.*>|\.\.\.|your[-_].*(key|token|secret).*|(OPENAI|ANTHROPIC|OPENROUTER|GEMINI|GOOGLE|MISTRAL|GROQ|DEEPSEEK|XAI)_API_KEY|(sk-)?x{5,})$`)

// trimServers takes off what stands around the headers of MCP servers, and around the
// secrets of their programs.
func trimServers(c *Config) {
	for _, s := range c.Tools.MCP {
		for name, value := range s.Headers {
			s.Headers[name] = keys.Trim(value)
		}
		for name, value := range s.Env {
			if secretName.MatchString(name) {
				s.Env[name] = keys.Trim(value)
			}
		}
	}
}

// readSmall reads a whole file that may have at most limit bytes.
func readSmall(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, readable(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s isn't a file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s is larger than %d KiB", name, limit>>10)
	}
	text, err := os.ReadFile(name)
	return text, readable(name, err)
}

// readable adds to the error of reading a file what is to be done, when it is
// the rights that are missing.
func readable(name string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, hidden := os.Stat(name); hidden != nil {
		return fmt.Errorf("%w; let user %d enter its directory", err, os.Geteuid())
	}
	return fmt.Errorf("%w; let user %d read it: chown %[2]d %[3]s", err, os.Geteuid(), name)
}

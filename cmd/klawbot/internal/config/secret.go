package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

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

// dropTwins makes a later layer's value win over an earlier layer's file of
// the same secret, and the other way round: of token and tokenFile only the
// one of the last layer counts.
func dropTwins(earlier, later tree, k *Key) {
	for name, child := range k.fields {
		if child.secret {
			if _, given := later[name]; given {
				delete(earlier, name+"File")
			}
			if _, given := later[name+"File"]; given {
				delete(earlier, name)
			}
			continue
		}
		descend(earlier, later, name, child)
	}
	if k.table != nil {
		for name := range later {
			descend(earlier, later, name, k.table)
		}
	}
}

func descend(earlier, later tree, name string, k *Key) {
	e, _ := earlier[name].(tree)
	l, _ := later[name].(tree)
	if e != nil && l != nil {
		dropTwins(e, l, k)
	}
}

// readSecrets reads the secrets that stand in files of their own, and tells
// all secrets to known. It returns the files that it read.
func readSecrets(c *Config, origins map[string]string, known *redact.Set) (files []string, faults []Fault) {
	read := func(key string, value *string, file string) {
		defer func() {
			if !strings.HasSuffix(key, ".apiKey") || len(*value) >= minKey {
				known.Add(*value)
			}
		}()
		if file == "" {
			return
		}
		if *value != "" {
			faults = append(faults, Fault{origins[key+"File"], key, "is given twice; keep either it or " + key + "File"})
			return
		}
		files = append(files, file)
		text, err := readSmall(file, maxSecretBytes)
		if err != nil {
			faults = append(faults, Fault{origins[key+"File"], key + "File", err.Error()})
			return
		}
		*value = strings.TrimSpace(string(text))
		if *value == "" {
			faults = append(faults, Fault{origins[key+"File"], key + "File", file + " is empty"})
		}
	}
	t := &c.Channels.Telegram
	read("channels.telegram.token", &t.Token, t.TokenFile)
	if err := tokenForm(t.Token); err != nil && t.TokenFile != "" {
		faults = append(faults, Fault{origins["channels.telegram.tokenFile"], "channels.telegram.token", err.Error()})
	}
	read("channels.telegram.webhook.secret", &t.Webhook.Secret, t.Webhook.SecretFile)
	for name, p := range c.Models.Providers {
		read("models.providers."+name+".apiKey", &p.APIKey, p.APIKeyFile)
		c.Models.Providers[name] = p
	}
	for name, m := range c.Tools.MCP {
		read("tools.mcp."+name+".clientSecret", &m.ClientSecret, m.ClientSecretFile)
		c.Tools.MCP[name] = m
	}
	knowServerSecrets(c, known)
	known.Add(c.Tools.Search.APIKey)
	return files, faults
}

// readSmall reads a whole file that may have at most limit bytes.
func readSmall(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, readable(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
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
		return fmt.Errorf("%w; let user %d enter its folder", err, os.Geteuid())
	}
	return fmt.Errorf("%w; let user %d read it: chown %[2]d %[3]s", err, os.Geteuid(), name)
}

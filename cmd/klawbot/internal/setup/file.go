package setup

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// yaml is the text of the new config.yaml. A secret that stands in a variable
// of the environment is written as a reference to it.
func (a *Answers) yaml(data string, environ []string) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	line(0, "# Written by klawbot init. Every key with its meaning: config.yaml.example.")
	if data != "" {
		if abs, err := filepath.Abs(data); err == nil {
			data = abs
		}
		line(0, "dataDir: %s", quote(data))
	}
	line(0, "channels:")
	if a.Token != "" {
		line(1, "telegram:")
		line(2, "token: %s", reference(a.Token, environ))
		line(2, "allowedChatIds: %s", list(a.allowed))
		line(2, "ownerIds: %s", list(a.owners))
		if a.APIURL != "" {
			line(2, "apiURL: %s", quote(a.APIURL))
		}
	}
	line(1, "console: {enabled: true}")
	if a.Timezone != "" {
		line(0, "agent:")
		line(1, "timezone: %s", quote(a.Timezone))
	}
	if a.Embedding != "" {
		line(0, "memory:")
		line(1, "embedding: {model: %s}", quote(a.Embedding))
	}
	line(0, "models:")
	if m := a.chosen; m == nil {
		line(1, `default: ""   # no model: commands only`)
	} else {
		line(1, "default: main")
		line(1, "providers:")
		line(2, "%s:", quote(m.Provider))
		line(3, "type: %s", m.Type)
		line(3, "baseURL: %s", quote(m.BaseURL))
		line(3, "apiKey: %s", reference(m.APIKey, environ))
		line(1, "entries:")
		line(2, "main:")
		line(3, "provider: %s", quote(m.Provider))
		line(3, "model: %s", quote(m.Name))
		line(3, "maxTokens: %d", m.MaxTokens)
		line(3, "contextBudget: %d", m.ContextBudget)
	}
	return b.String()
}

// quote writes a text so that YAML reads it back as it is.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always has a form in JSON
		panic(err)
	}
	return string(quoted)
}

// reference names the variable that holds the secret, or quotes the secret.
func reference(secret string, environ []string) string {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		known := strings.HasSuffix(name, "_API_KEY") || name == "TELEGRAM_BOT_TOKEN"
		if known && value == secret && secret != "" {
			return "${" + name + "}"
		}
	}
	return quote(secret)
}

func list(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

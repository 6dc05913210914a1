package main

import (
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

// composeService is what the tests know of a service in a compose file.
type composeService struct {
	Image       string
	Command     []string
	Environment map[string]string
	Volumes     []string
	Build       any
}

func composeFile(t *testing.T, name string) (s composeService) {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]composeService
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(file.Services) != 1 {
		t.Fatalf("%s has %d services", name, len(file.Services))
	}
	return file.Services["klawbot"]
}

var composeVariable = regexp.MustCompile(`\$\{(\w+)[^}]*\}`)

// TestStandbyCompose lets the file for a second host extend compose.yaml as the manual
// says: its image is made of that of compose.yaml, its commands are klawbot's, and what it
// sets reaches the configuration. Where Docker is, it reads both files, too.
func TestStandbyCompose(t *testing.T) {
	base, more := composeFile(t, "compose.yaml"), composeFile(t, "compose.standby.yaml")
	if !slices.Contains(base.Volumes, "data:/data") || len(more.Volumes) > 0 {
		t.Errorf("the data are in %v and %v", base.Volumes, more.Volumes)
	}
	inline, _ := more.Build.(map[string]any)["dockerfile_inline"].(string)
	if more.Image == base.Image || !strings.Contains(inline, "\nFROM "+base.Image+"\n") || !strings.Contains(inline, "/usr/local/bin/litestream") {
		t.Errorf("the image %s is made so:\n%s", more.Image, inline)
	}
	manual := page(t, "standby.md")
	values := map[string]string{"KLAWBOT_STANDBY__TO": "s3://bucket/klawbot", "KLAWBOT_STANDBY__ENDPOINT": "https://s3.example.com"}
	var environ []string
	for name, value := range more.Environment {
		for _, v := range composeVariable.FindAllStringSubmatch(value, -1) {
			if strings.Contains(value, ":?") && !strings.Contains(manual, "`"+v[1]+"`") {
				t.Errorf("standby.md doesn't say what %s is", v[1])
			}
		}
		environ = append(environ, name+"="+cmp.Or(values[name], "some-value"))
	}
	if l, err := (config.Source{Environ: environ, Redact: &redact.Set{}}).Load(); err != nil {
		t.Error(err)
	} else if s := l.Config.Standby; s.To != values["KLAWBOT_STANDBY__TO"] || s.Endpoint == "" || s.Host != "some-value" || s.SecretAccessKey == "" || s.AccessKeyID == "" {
		t.Errorf("the configuration got %+v", s)
	}
	for _, command := range []string{strings.Trim(composeVariable.ReplaceAllString(more.Command[0], "run"), "-"), "standby"} {
		if err := takesLine([]string{command}); err != nil {
			t.Error(err)
		}
	}
	if exec.Command("docker", "compose", "version").Run() != nil {
		return
	}
	check := exec.Command("docker", "compose", "-f", "../../compose.yaml", "-f", "../../compose.standby.yaml", "config", "--quiet")
	check.Env = append(os.Environ(), "KLAWBOT_STANDBY__TO=s3://bucket/klawbot", "KLAWBOT_STANDBY__HOST=attic")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("docker compose config: %v\n%s", err, out)
	}
}

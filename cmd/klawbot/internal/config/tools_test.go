//go:build linux

package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/internal/redact"
)

func TestSandboxKeysOfOtherBots(t *testing.T) {
	l := mustParse(t, `tools:
  sandbox: {mode: bwrap, networkAccess: true, maxMemoryMb: 128, maxCpuPercent: 50, bindMounts: ["/srv/books:/books"]}
`)
	want := defaultSandbox()
	want.Type, want.Network, want.MemoryMB, want.CPUs, want.Mounts = "bwrap", true, 128, 0.5, []string{"/srv/books:/books"}
	if diff := cmp.Diff(want, l.Tools.Sandbox); diff != "" || len(l.Notices) > 0 {
		t.Error(diff, l.Notices)
	}
}

func TestSandboxFaults(t *testing.T) {
	for text, want := range map[string]string{
		"type: chroot":                      "tools.sandbox.type: must be off, docker, bwrap, landlock or nsjail",
		"type: docker":                      "tools.sandbox.image: must name an image",
		"shell: true":                       "tools.sandbox.shell: needs tools.sandbox.type",
		"mounts: [/var/run/docker.sock:/s]": "the docker socket gives the whole machine away",
		"mounts: [data]":                    "a mount of a sandbox is HOST:INSIDE",
		"{memoryMB: 64, maxMemoryMb: 128}":  "duplicate key; keep one",
		"maxCpuPercent: 0":                  "tools.sandbox.cpus",
	} {
		text = "tools: {sandbox: {" + strings.Trim(text, "{}") + "}}\n"
		_, err := Source{File: "config.yaml", Redact: &redact.Set{}}.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}

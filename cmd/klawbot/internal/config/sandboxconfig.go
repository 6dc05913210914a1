package config

import "klawbot/tools/sandbox"

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

// sandboxMounts are folders of the host in a sandbox.
func sandboxMounts(v any) error {
	for _, text := range v.([]string) {
		if _, err := sandbox.ParseMount(text); err != nil {
			return err
		}
	}
	return nil
}

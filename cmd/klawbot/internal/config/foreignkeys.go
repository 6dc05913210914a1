package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// foreignKey is a key of ours under the name that other bots have for it.
type foreignKey struct {
	name string
	// percent says that the value is in hundredths of ours.
	percent bool
}

// foreignKeys are keys of other bots that are accepted, by dotted path.
var foreignKeys = map[string]foreignKey{
	"tools.sandbox.mode":          {name: "type"},
	"tools.sandbox.networkAccess": {name: "network"},
	"tools.sandbox.maxMemoryMb":   {name: "memoryMB"},
	"tools.sandbox.maxCpuPercent": {name: "cpus", percent: true},
	"tools.sandbox.bindMounts":    {name: "mounts"},
}

// ourKey is our name for the key at path, and its value.
func ourKey(path []string, value *yaml.Node) (string, *yaml.Node) {
	name := path[len(path)-1]
	other, ok := foreignKeys[strings.Join(path, ".")]
	if !ok {
		return name, value
	}
	if n, err := strconv.ParseFloat(value.Value, 64); err == nil && other.percent {
		ours := *value
		ours.Value, ours.Tag = strconv.FormatFloat(n/100, 'f', -1, 64), ""
		value = &ours
	}
	return other.name, value
}

package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"klawbot/cmd/klawbot/internal/keys"
	"klawbot/whitelist"
)

func allKeys() *keys.Key { return keys.Of(reflect.TypeFor[Config]()) }

// Lookup finds the key with a dotted name, in its exact spelling; nil when there is
// none. near is the name that was probably meant.
func Lookup(name string) (k *keys.Key, near string) {
	path := strings.Split(name, ".")
	all := allKeys()
	if k = all.At(path); k == nil {
		near = all.Suggest(path)
	}
	return k, near
}

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

func ids(texts []string) ([]int64, error) {
	ids := make([]int64, 0, len(texts))
	var wrong []string
	for _, text := range texts {
		id, err := ParseID(text)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		ids = append(ids, id)
	}
	if len(wrong) > 0 {
		return ids, fmt.Errorf("%s; %s", strings.Join(wrong, "; "), FindID)
	}
	return ids, nil
}

// FindID says how a person finds an id.
const FindID = "write to the bot and read the ID in its log, or let klawbot init find it"

// ParseID reads an id in any of its forms: 123456, -100123,
// telegram_123456.
func ParseID(text string) (int64, error) {
	channel, id, err := whitelist.ParseID(text)
	if err != nil {
		return 0, err
	}
	if channel != "" && channel != "telegram" {
		return 0, fmt.Errorf("%q is an id of the channel %s, not of telegram", text, channel)
	}
	if id == 0 {
		return 0, fmt.Errorf("%q isn't an ID", text)
	}
	return id, nil
}

// ParseIDs reads ids from the command line.
func ParseIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := ParseID(arg)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, FindID)
		}
		ids[i] = id
	}
	return ids, nil
}

// Unique drops ids that stand in the list already, and keeps the order.
func Unique(ids []int64) []int64 {
	var kept []int64
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

package protocol

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"klawbot/engine/internal/llm"
)

// IDs are the ids of calls in a request, by our own.
type IDs map[string]string

const (
	longestID = 40
	mistralID = 9
)

// NewIDs gives every call of a history an id that is unique in it and that the
// provider takes: format is "mistral" or empty. A provider gets its own ids back as
// they were, of any length: some hide a signature in them. Models repeat ids, so a
// later call may need another.
func NewIDs(format string, msgs []llm.Message) IDs {
	ids, used := IDs{}, map[string]bool{}
	for _, m := range msgs {
		for _, c := range m.Calls() {
			id := c.WireID
			for n := 0; id == "" || used[id]; n++ {
				id = derive(format, c.ID, n)
			}
			ids[c.ID], used[id] = id, true
		}
	}
	return ids
}

// derive makes an id out of ours, the n-th that it can make.
func derive(format, id string, n int) string {
	if format != "mistral" && n == 0 && plain(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id + "/" + strconv.Itoa(n)))
	alphanumeric := strings.NewReplacer("-", "x", "_", "y").Replace(base64.RawURLEncoding.EncodeToString(sum[:]))
	if format == "mistral" {
		return alphanumeric[:mistralID]
	}
	return "call_" + alphanumeric[:24]
}

// plain reports whether every provider but Mistral takes an id.
func plain(id string) bool {
	return len(id) <= longestID && strings.IndexFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && r != '_' && r != '-'
	}) < 0
}

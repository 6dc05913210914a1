package archive

import (
	"klawbot/engine/internal/store"
	"klawbot/internal/redact"
)

// Rewrite reads a line of a conversation log and writes it again.
func Rewrite(line []byte) ([]byte, error) {
	m, err := parseRecord(store.Address{}, line)
	if err != nil {
		return nil, err
	}
	return recordOf(m).line(new(redact.Set))
}

package store

import "encoding/json"

// ShownTools are the tools that a conversation shows its model beside those that are
// always shown. They are kept in the order in which they came, so that requests begin
// like the ones before and providers find them in their caches.
type ShownTools struct {
	// Since is the id of the summary that the list belongs to: with the next one the
	// conversation begins another.
	Since int64       `json:"since"`
	Tools []ShownTool `json:"tools"`
}

// ShownTool is one of them, with how often it was called.
type ShownTool struct {
	Name  string `json:"name"`
	Calls int    `json:"calls,omitempty"`
}

// ShownTools returns those of a session.
func (tx SessionsTx) ShownTools(id SessionID) (s ShownTools, err error) {
	var source string
	if err = tx.tx.QueryRow(`SELECT shown FROM sessions WHERE id = ?`, id).Scan(&source); err == nil && source != "" {
		err = json.Unmarshal([]byte(source), &s)
	}
	return s, wrap(err, "shown tools of session %d", id)
}

// SetShownTools stores those of a session.
func (tx SessionsTx) SetShownTools(id SessionID, s ShownTools) error {
	source, err := json.Marshal(s)
	if err == nil {
		err = tx.change(`UPDATE sessions SET shown = ? WHERE id = ?`, string(source), id)
	}
	return wrap(err, "shown tools of session %d", id)
}

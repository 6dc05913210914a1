package telegramtest

import "encoding/json"

// The limits of keyboards.
const (
	maxButtonData = 64 // bytes
	maxButtons    = 100
)

// readKeyboard reads reply_markup. Nothing but an inline keyboard is known; other
// kinds are taken and forgotten.
func readKeyboard(p params) ([][]Button, *apiError) {
	var markup struct {
		Rows [][]json.RawMessage `json:"inline_keyboard"`
	}
	if err := p.object("reply_markup", &markup); err != nil {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	rows, count := [][]Button(nil), 0
	for _, raw := range markup.Rows {
		row, err := readRow(raw)
		if err != nil {
			return nil, err
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
		count += len(row)
	}
	if count > maxButtons {
		return nil, badRequest("reply markup is too long")
	}
	return rows, nil
}

func readRow(raw []json.RawMessage) ([]Button, *apiError) {
	var row []Button
	for _, r := range raw {
		b, err := readButton(r)
		if err != nil {
			return nil, err
		}
		row = append(row, b)
	}
	return row, nil
}

func readButton(raw json.RawMessage) (Button, *apiError) {
	var b struct {
		Button
		// Other actions that a button may have instead.
		Copy json.RawMessage `json:"copy_text"`
		App  json.RawMessage `json:"web_app"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return b.Button, badRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
	}
	fault := ""
	if b.URL != "" {
		fault = checkURL(b.URL)
	}
	switch {
	case b.Text == "":
		return b.Button, badRequest(`can't parse inline keyboard button: Can't find field "text"`)
	case fault != "":
		return b.Button, badRequest("inline keyboard button URL '%s' is invalid: %s", b.URL, fault)
	case b.Data == "" && b.URL == "" && b.Copy == nil && b.App == nil:
		return b.Button, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	case len(b.Data) > maxButtonData:
		return b.Button, badRequest("BUTTON_DATA_INVALID")
	}
	return b.Button, nil
}

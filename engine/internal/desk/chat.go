package desk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"klawbot/engine/internal/media"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/wording"
	"klawbot/engine/settings"
	"klawbot/gateway/web"
	"klawbot/internal/redact"
)

// Chat keeps the chat of the page and the browsers that are signed in. All of it is
// required.
type Chat struct {
	Store *store.Store
	// Files keeps the files of messages.
	Files    *media.Files
	Settings func() settings.Settings
	// Deaf reports whether the bot can't turn speech into text.
	Deaf func() bool
}

// Language is that of the bot.
func (c *Chat) Language() string { return c.Settings().Language }

// Zone is the one of the times that people see.
func (c *Chat) Zone() *time.Location { return c.Settings().Zone() }

// Secrets are what no page shows.
func (c *Chat) Secrets() *redact.Set { return c.Store.Secrets() }

// Hears reports whether the bot turns speech into text.
func (c *Chat) Hears() bool { return !c.Deaf() }

// missing turns the store's word for what is not there into the page's.
func missing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return web.ErrNotFound
	}
	return err
}

// Add keeps a message, unless there is one with its key.
func (c *Chat) Add(ctx context.Context, m web.Message) (kept web.Message, err error) {
	row, err := rowOf(c.Store.Secrets().Text, m)
	if err != nil {
		return kept, err
	}
	err = c.Store.Write(ctx, func(tx *store.Tx) error {
		added, err := tx.Web().AddMessage(row)
		if err == nil {
			kept, err = messageOf(added)
		}
		return err
	})
	return kept, err
}

// Put gives a message another text, buttons and file.
func (c *Chat) Put(ctx context.Context, m web.Message) error {
	row, err := rowOf(c.Store.Secrets().Text, m)
	if err != nil {
		return err
	}
	return c.Store.Write(ctx, func(tx *store.Tx) error { return tx.Web().PutMessage(row) })
}

// Remove deletes a message.
func (c *Chat) Remove(ctx context.Context, id int64) error {
	return c.Store.Write(ctx, func(tx *store.Tx) error { return tx.Web().DeleteMessage(id) })
}

// Message returns a message, or web.ErrNotFound.
func (c *Chat) Message(ctx context.Context, id int64) (m web.Message, err error) {
	err = c.Store.Read(ctx, func(tx *store.Tx) error {
		row, err := tx.Web().Message(id)
		if err == nil {
			m, err = messageOf(row)
		}
		return err
	})
	return m, missing(err)
}

// After lists what changed after a rev.
func (c *Chat) After(ctx context.Context, rev int64, limit int) ([]web.Message, int64, error) {
	return c.list(ctx, func(tx *store.Tx) ([]store.WebMessage, error) { return tx.Web().MessagesAfter(rev, limit) })
}

// Before lists the newest messages before an id.
func (c *Chat) Before(ctx context.Context, id int64, limit int) ([]web.Message, int64, error) {
	return c.list(ctx, func(tx *store.Tx) ([]store.WebMessage, error) { return tx.Web().MessagesBefore(id, limit) })
}

// SaidSince lists what people wrote since a time.
func (c *Chat) SaidSince(ctx context.Context, t time.Time) ([]web.Message, error) {
	all, _, err := c.list(ctx, func(tx *store.Tx) ([]store.WebMessage, error) { return tx.Web().SaidSince(t) })
	return all, err
}

func (c *Chat) list(ctx context.Context, read func(*store.Tx) ([]store.WebMessage, error)) (all []web.Message, last int64, err error) {
	err = c.Store.Read(ctx, func(tx *store.Tx) error {
		rows, err := read(tx)
		for _, row := range rows {
			m, fault := messageOf(row)
			m.Until = expires(tx, m)
			all, err = append(all, m), errors.Join(err, fault)
		}
		if err == nil {
			last, err = tx.Web().LastRev()
		}
		return err
	})
	return all, last, err
}

// expires is when the question of a message can no longer be answered.
func expires(tx *store.Tx, m web.Message) time.Time {
	for _, row := range m.Buttons {
		for _, b := range row {
			token, _, ours := wording.ReadButton(b.Data)
			if a, err := tx.Approvals().Approval(token); ours && err == nil && a.State == store.ApprovalPending {
				return a.ExpiresAt
			}
		}
	}
	return time.Time{}
}

// rowOf is a message as it is stored. The sum of its file must stay as it is, so the name
// is masked here.
func rowOf(mask func(string) string, m web.Message) (store.WebMessage, error) {
	row := store.WebMessage{ID: m.ID, Key: m.Key, Said: m.Said, Text: m.Text, ReplyTo: m.ReplyTo, At: m.At}
	if len(m.Buttons) > 0 {
		text, err := json.Marshal(m.Buttons)
		if err != nil {
			return row, err
		}
		row.Buttons = string(text)
	}
	if m.File != nil {
		f := *m.File
		f.Name = mask(f.Name)
		text, err := json.Marshal(f)
		if err != nil {
			return row, err
		}
		row.File = string(text)
	}
	return row, nil
}

func messageOf(row store.WebMessage) (web.Message, error) {
	m := web.Message{ID: row.ID, Key: row.Key, Said: row.Said, Text: row.Text, ReplyTo: row.ReplyTo, Gone: row.Gone, Rev: row.Rev, At: row.At}
	var err error
	if row.Buttons != "" {
		err = json.Unmarshal([]byte(row.Buttons), &m.Buttons)
	}
	if row.File != "" && err == nil {
		err = json.Unmarshal([]byte(row.File), &m.File)
	}
	return m, err
}

// Keep keeps what fill writes, among the files of messages.
func (c *Chat) Keep(ctx context.Context, fill func(io.Writer) error) (sum string, size int64, err error) {
	if sum, size, err = c.Files.Put(fill); err != nil {
		return "", 0, err
	}
	return sum, size, c.Store.Write(ctx, func(tx *store.Tx) error { return tx.Media().Keep(store.Media{Sum: sum, Bytes: size}) })
}

// Open opens a kept file.
func (c *Chat) Open(sum string) (io.ReadSeekCloser, error) {
	f, err := os.Open(c.Files.Path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, web.ErrNotFound
	}
	return f, err
}

// SignIn adds a browser.
func (c *Chat) SignIn(ctx context.Context, hash, agent string) error {
	return c.Store.Write(ctx, func(tx *store.Tx) error { return tx.Web().AddBrowser(hash, agent) })
}

// Browser is the one whose cookie has the hash, or web.ErrNotFound.
func (c *Chat) Browser(ctx context.Context, hash string) (b web.Browser, err error) {
	err = c.Store.Read(ctx, func(tx *store.Tx) error {
		row, err := tx.Web().Browser(hash)
		b = browserOf(row)
		return err
	})
	return b, missing(err)
}

func browserOf(b store.WebBrowser) web.Browser {
	return web.Browser{ID: b.ID, Agent: b.Agent, Language: b.Language, At: b.At, SeenAt: b.SeenAt}
}

// Browsers lists those that are signed in.
func (c *Chat) Browsers(ctx context.Context) (all []web.Browser, err error) {
	err = c.Store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Web().Browsers()
		for _, row := range rows {
			all = append(all, browserOf(row))
		}
		return err
	})
	return all, err
}

// Seen notes that a browser was seen now, and its language.
func (c *Chat) Seen(ctx context.Context, id int64, language string) error {
	return missing(c.Store.WriteUnsynced(ctx, func(tx *store.Tx) error { return tx.Web().SetBrowser(id, language) }))
}

// End signs a browser out.
func (c *Chat) End(ctx context.Context, id int64) error {
	return c.Store.Write(ctx, func(tx *store.Tx) error { return tx.Web().EndBrowser(id) })
}

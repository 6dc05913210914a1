package store

// AttachmentState is how far a file of a message is.
type AttachmentState string

// The states of a file.
const (
	AttachmentNew     AttachmentState = "new"
	AttachmentFetched AttachmentState = "fetched"
	AttachmentDone    AttachmentState = "done"
)

// Attachment is a file of a message of a turn that runs. Position counts the files of
// the message; those that it quotes come after its own.
type Attachment struct {
	Turn     TurnID
	Inbox    InboxID
	Position int
	State    AttachmentState
	// Attempts is how many readings began.
	Attempts int
	// Sum is the SHA-256 of the kept file, "" for none.
	Sum string
	// Outcome is what was read, as JSON.
	Outcome []byte
}

// AddAttachment notes a file that a turn needs. One that is noted already stays as it is.
func (tx MediaTx) AddAttachment(a Attachment) error {
	_, err := tx.exec(`INSERT INTO attachments (turn, inbox, position, state, attempts, sum, outcome) VALUES (?, ?, ?, 'new', 0, '', '')
		ON CONFLICT DO NOTHING`, a.Turn, a.Inbox, a.Position)
	return wrap(err, "add attachment %d of turn %d", a.Position, a.Turn)
}

// Attachments lists the files of a turn.
func (tx MediaTx) Attachments(t TurnID) ([]Attachment, error) {
	all, err := query(tx, func(r row) (a Attachment, err error) {
		err = r.Scan(&a.Turn, &a.Inbox, &a.Position, &a.State, &a.Attempts, &a.Sum, &a.Outcome)
		return a, err
	}, `SELECT turn, inbox, position, state, attempts, sum, outcome FROM attachments WHERE turn = ? ORDER BY inbox, position`, t)
	return all, wrap(err, "attachments of turn %d", t)
}

// SetAttachment writes how far a file is.
func (tx MediaTx) SetAttachment(a Attachment) error {
	err := tx.change(`UPDATE attachments SET state = ?, attempts = ?, sum = ?, outcome = ? WHERE turn = ? AND inbox = ? AND position = ?`,
		a.State, a.Attempts, exact(a.Sum), string(a.Outcome), a.Turn, a.Inbox, a.Position)
	return wrap(err, "set attachment %d of turn %d", a.Position, a.Turn)
}

// Media is a kept file. Copies are the paths of its copies.
type Media struct {
	Sum, MIME string
	Bytes     int64
	Copies    []string
}

// Keep notes a file that is kept, or that one is used.
func (tx MediaTx) Keep(m Media) error {
	_, err := tx.exec(`INSERT INTO media (sum, mime, bytes, copies, used_at) VALUES (?, ?, ?, '[]', ?)
		ON CONFLICT (sum) DO UPDATE SET used_at = excluded.used_at`, exact(m.Sum), m.MIME, m.Bytes, toMillis(tx.now))
	return wrap(err, "keep media")
}

// AddCopy notes a copy of a kept file.
func (tx MediaTx) AddCopy(sum, path string) error {
	_, err := tx.exec(`UPDATE media SET copies = json_insert(copies, '$[#]', ?) WHERE sum = ?
		AND NOT EXISTS (SELECT 1 FROM json_each(copies) WHERE value = ?)`, exact(path), exact(sum), exact(path))
	return wrap(err, "add copy of media")
}

// Kept lists the kept files, the one that was not used for longest first; free says
// whether no turn that runs needs it.
func (tx MediaTx) Kept(each func(m Media, usedAt int64, free bool)) error {
	return wrap(tx.each(`SELECT sum, mime, bytes, copies, used_at, sum NOT IN (SELECT sum FROM attachments) FROM media ORDER BY used_at, sum`,
		nil, func(r row) error {
			var m Media
			var usedAt int64
			var free bool
			err := r.Scan(&m.Sum, &m.MIME, &m.Bytes, jsonColumn{&m.Copies}, &usedAt, &free)
			if err == nil {
				each(m, usedAt, free)
			}
			return err
		}), "list media")
}

// Drop forgets a kept file.
func (tx MediaTx) Drop(sum string) error {
	_, err := tx.exec(`DELETE FROM media WHERE sum = ?`, exact(sum))
	return wrap(err, "drop media")
}

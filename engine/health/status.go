// Package health says how a bot is, for /status and /doctor, for the commands of the
// command line and for monitoring. It repairs nothing.
package health

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
	"klawbot/engine/internal/toolset"
	"klawbot/gateway"
	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/mcp"
	"klawbot/tools/self"
)

// Status is how the bot is doing. Its JSON form is stable.
type Status struct {
	Version string `json:"version"`
	// Healthy is false when Faults says why a person should look.
	Healthy  bool             `json:"healthy"`
	Faults   []string         `json:"faults,omitempty"`
	Uptime   time.Duration    `json:"uptime_ns"`
	Channels []gateway.Health `json:"channels,omitempty"`
	Model    string           `json:"model"`
	// Muted are the places where the bot may not write, with the reasons.
	Muted []string `json:"muted,omitempty"`
	// Knocked are the chats that wrote and are not allowed, the latest first.
	Knocked []Stranger `json:"knocked,omitempty"`
	// Running counts the turns at this moment.
	Running  int        `json:"running"`
	Inbox    Queue      `json:"inbox"`
	Outbox   Queue      `json:"outbox"`
	Usage    UsageToday `json:"usage_today,omitzero"`
	Database Database   `json:"database"`
	Backup   Backup     `json:"backup"`
	Disk     Disk       `json:"disk,omitzero"`
	// Request is the last request to a model, by its parts; Local are the models that run
	// on this machine.
	Request Request      `json:"last_request,omitzero"`
	Local   []LocalModel `json:"local_models,omitempty"`
	// Standby is nil without a second host.
	Standby *Standby `json:"standby,omitempty"`
}

// Standby is how the lease and the replica for a second host fare.
type Standby struct {
	// Waiting says that this host waits; Host runs the bot. What is known of it is what
	// this host saw in the replica.
	Waiting bool   `json:"waiting,omitempty"`
	Host    string `json:"host"`
	// Epoch counts the takeovers. Complete says that another host could take over.
	Epoch    int  `json:"epoch"`
	Complete bool `json:"complete"`
	// Renewed is when the lease was renewed; the replica has everything up to Database and
	// Files.
	Renewed  time.Time `json:"renewed"`
	Database time.Time `json:"database,omitzero"`
	Files    time.Time `json:"files,omitzero"`
	// Fault says why the replica falls behind.
	Fault string `json:"fault,omitempty"`
}

// Text is the standby in words, for people.
func (s Standby) Text(now time.Time) string {
	text := "replica not complete yet"
	if s.Complete {
		text = fmt.Sprintf("replica %s old, files %s", seconds(s.Database, now), seconds(s.Files, now))
	}
	text = fmt.Sprintf("%s runs the bot (epoch %d), lease renewed %s ago, %s", s.Host, s.Epoch, seconds(s.Renewed, now), text)
	if s.Epoch == 0 {
		text = "no host has run the bot yet"
	}
	if s.Waiting {
		text = "waiting; " + text
	}
	if s.Fault != "" {
		text += "; " + s.Fault
	}
	return text
}

func seconds(at, now time.Time) string {
	if at.IsZero() {
		return "–"
	}
	return max(now.Sub(at), 0).Round(100 * time.Millisecond).String()
}

// Request is about how many tokens the parts of a request take.
type Request struct {
	Instructions int `json:"instructions"`
	Skills       int `json:"skills"`
	CoreMemory   int `json:"core_memory"`
	Tools        int `json:"tools"`
	History      int `json:"history"`
	Message      int `json:"message"`
}

// Sum is about how many tokens the request takes.
func (r Request) Sum() int {
	return r.Instructions + r.Skills + r.CoreMemory + r.Tools + r.History + r.Message
}

// LocalModel is how a model on this machine does.
type LocalModel struct {
	Provider string `json:"provider"`
	// State is off, loading, ready, unloading or failed.
	State string `json:"state"`
	Fault string `json:"fault,omitempty"`
	// Note says what is odd about it although it works.
	Note string `json:"note,omitempty"`
}

// Stranger is a chat that wrote and is not allowed. Its name is foreign text.
type Stranger struct {
	Chat   string    `json:"chat"`
	ID     int64     `json:"id"`
	Name   string    `json:"name"`
	Times  int       `json:"times"`
	LastAt time.Time `json:"last_at"`
}

// String is a stranger for people.
func (s Stranger) String() string { return fmt.Sprintf("%s (id %d)", s.Name, s.ID) }

// Queue is how much waits, and since when.
type Queue struct {
	Waiting int       `json:"waiting"`
	Oldest  time.Time `json:"oldest,omitzero"`
}

// Database is how the database fares.
type Database struct {
	// State is "ok", "full", "read-only", "failing" or "damaged".
	State string `json:"state"`
	// Fault is the last error in words, empty when all is well.
	Fault string `json:"fault,omitempty"`
	// Since is when it began, zero when all is well.
	Since time.Time `json:"since,omitzero"`
	// Bytes is the size of the file and its write-ahead log.
	Bytes int64 `json:"bytes"`
}

// Entries are a status as the tool self_info shows it, with what the memory and the
// MCP servers say.
func (s Status) Entries(remembered string, servers []mcp.Status, zone *time.Location) []self.Entry {
	entries := []self.Entry{
		{Key: "memory", Value: remembered},
		{Key: "version", Value: s.Version},
		{Key: "running for", Value: s.Uptime.Round(time.Second).String()},
		{Key: "turns running", Value: strconv.Itoa(s.Running)},
		{Key: "messages waiting", Value: strconv.Itoa(s.Inbox.Waiting)},
		{Key: "replies waiting", Value: strconv.Itoa(s.Outbox.Waiting)},
		{Key: "database", Value: s.Database.State + ", " + strconv.FormatInt(s.Database.Bytes, 10) + " bytes"},
		{Key: "last backup", Value: cmp.Or(s.Backup.day(zone), "none")},
		{Key: "usage", Value: s.Usage.Text(tools.English)},
	}
	for _, h := range s.Channels {
		entries = append(entries, self.Entry{Key: "channel " + h.Channel, Value: string(h.State)})
	}
	for _, f := range servers {
		finding := ServerFinding(f)
		entries = append(entries, self.Entry{Key: finding.Name, Value: finding.Text})
	}
	return entries
}

// StatusOf reports what the data directory says of a bot that does not run. A
// database that is damaged is part of the status; one that is not there is an
// error.
func StatusOf(ctx context.Context, c toolset.Config) (Status, error) {
	s := Status{Version: c.Version}
	st, err := store.OpenBeside(ctx, store.Config{Dir: c.Dir, Log: slog.New(slog.DiscardHandler)})
	switch {
	case store.Damaged(err):
		s.Database = Database{State: string(condition.Damaged), Fault: err.Error()}
	case err != nil:
		return s, err
	default:
		defer func() { _ = st.Close() }() // it was only read
		if err := s.read(ctx, st, c.Dir); err != nil {
			return s, err
		}
	}
	s.Disk = NewDiskUse(c.Dir, c.Workspace).Now()
	s.Backup, err = LastBackup(c.Dir)
	return s, err
}

// Complete fills in what the store of a bot that runs and its usage say, and whether
// it is healthy. Known secrets do not stand in its faults.
func (s *Status) Complete(ctx context.Context, st *store.Store, dir string, usage func(context.Context) (UsageToday, error), secrets *redact.Set) error {
	if err := s.read(ctx, st, dir); err != nil {
		return err
	}
	var err error
	if s.Usage, err = usage(ctx); err != nil && s.Database.State == string(condition.OK) {
		return err
	}
	s.Database.Fault, s.Backup.Fault = secrets.Text(s.Database.Fault), secrets.Text(s.Backup.Fault)
	for i := range s.Channels {
		s.Channels[i].Fault = secrets.Text(s.Channels[i].Fault)
	}
	if s.Standby != nil {
		s.Standby.Fault = secrets.Text(s.Standby.Fault)
	}
	s.Faults = s.faults(time.Now())
	s.Healthy = len(s.Faults) == 0
	return nil
}

// read fills in what the store knows. A database that cannot be read is no
// error: the status is there to say so.
func (s *Status) read(ctx context.Context, st *store.Store, dir string) error {
	var err error
	s.Inbox, s.Outbox, err = Queues(ctx, st)
	if err == nil {
		s.Knocked, err = strangers(ctx, st)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := st.Condition()
	if err != nil && c.State == condition.OK {
		c = condition.Condition{State: condition.Failing, Fault: err.Error()}
	}
	s.Database = Database{State: string(c.State), Fault: c.Fault, Since: c.Since}
	for _, name := range []string{"klawbot.db", "klawbot.db-wal"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil { // the size is for people only
			s.Database.Bytes += info.Size()
		}
	}
	return nil
}

// Queues are the messages that wait to be answered, and those that wait to leave.
func Queues(ctx context.Context, st *store.Store) (in, out Queue, err error) {
	err = st.Read(ctx, func(tx *store.Tx) error {
		inbox, err := tx.Inbox().InboxDepth()
		if err != nil {
			return err
		}
		outbox, err := tx.Outbox().OutboxDepth()
		in, out = Queue(inbox), Queue(outbox)
		return err
	})
	return in, out, err
}

func strangers(ctx context.Context, st *store.Store) (all []Stranger, err error) {
	err = st.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Chats().Strangers(store.StrangerWaits)
		for _, r := range rows {
			chat := gateway.ChatID{Channel: r.Channel, ID: r.ID}
			all = append(all, Stranger{chat.String(), r.ID, r.Name, r.Times, r.LastAt})
		}
		return err
	})
	return all, err
}

// UsageToday is what the models took today. The names of its fields follow the
// attributes gen_ai.usage.* of OpenTelemetry.
type UsageToday struct {
	// Day is in the bot's time zone, "2006-01-02".
	Day   string `json:"day"`
	Calls int    `json:"calls"`
	// InputTokens and OutputTokens are what providers said. The cached are a
	// part of the input.
	InputTokens          int `json:"input_tokens"`
	OutputTokens         int `json:"output_tokens"`
	CacheReadInputTokens int `json:"cache_read_input_tokens"`
	// EstimatedTokens are our guess for what providers did not say.
	EstimatedTokens int `json:"estimated_tokens"`
	// CostUSD is the cost of the calls that have prices; UnpricedCalls counts
	// the others.
	CostUSD       float64 `json:"cost_usd"`
	UnpricedCalls int     `json:"unpriced_calls"`
}

// Text is the usage as a line for people.
func (u UsageToday) Text(language string) string {
	text := locale.Say(language, locale.Usage, u.Calls, u.InputTokens, u.OutputTokens)
	if u.EstimatedTokens > 0 {
		text += locale.Say(language, locale.UsageEstimated, u.EstimatedTokens)
	}
	switch {
	case u.Calls == 0:
	case u.UnpricedCalls == 0:
		text += ", " + locale.Dollars(u.CostUSD)
	case u.UnpricedCalls < u.Calls:
		text += locale.Say(language, locale.UsagePartly, locale.Dollars(u.CostUSD))
	}
	return text
}

// LastBackup is the newest backup of a data directory.
func LastBackup(dir string) (Backup, error) {
	all, err := archive.Backups(dir)
	if err != nil || len(all) == 0 {
		return Backup{}, err
	}
	return Backup{At: all[0].At, Path: all[0].Path, Bytes: all[0].Size}, nil
}

// Backup is the last automatic backup. Its JSON form is stable.
type Backup struct {
	// At is when it was made, zero when there is none.
	At   time.Time `json:"at,omitzero"`
	Path string    `json:"path,omitempty"`
	// Bytes is its size.
	Bytes int64 `json:"bytes,omitempty"`
	// Fault is why the last try failed, empty when it did not.
	Fault string `json:"fault,omitempty"`
}

// Text is the status as a chat shows it, whose conversation goes with a model since
// a time; both are "-" when there is none.
func (s Status) Text(chat gateway.Address, model, since, language string, zone *time.Location) string {
	say := func(p locale.Phrase, args ...any) string { return locale.Say(language, p, args...) }
	// The row of this very command still waits.
	waiting := max(s.Inbox.Waiting-1, 0)
	text := say(locale.Status, chat, model, since, locale.Span(language, s.Uptime), waiting, s.Outbox.Waiting)
	if waiting > 0 {
		text += " (" + say(locale.Oldest, locale.Span(language, time.Since(s.Inbox.Oldest))) + ")"
	}
	text += "\n" + s.Usage.Text(language)
	for _, h := range s.Channels {
		text += fmt.Sprintf("\n%s: %s", h.Channel, h.State)
		if !h.LastPoll.IsZero() {
			text += ", " + say(locale.Polled, locale.Span(language, time.Since(h.LastPoll)))
		}
		if h.Fault != "" {
			text += " (" + h.Fault + ")"
		}
	}
	for _, place := range s.Muted {
		text += "\n" + say(locale.StatusMuted, place)
	}
	if len(s.Knocked) > 0 {
		names := make([]string, 0, knockedShown)
		for _, k := range s.Knocked[:min(len(s.Knocked), knockedShown)] {
			names = append(names, fmt.Sprintf("%s (id %d)", locale.Ticks(k.Name), k.ID))
		}
		text += "\n" + say(locale.StatusKnocked, len(s.Knocked), strings.Join(names, ", "))
	}
	// Faults of the storage hold paths, so they are for the owner at the command line.
	return text + "\n" + say(locale.Storage, s.Database.State, cmp.Or(s.Backup.day(zone), "-"))
}

// knockedShown is how many unknown senders /status names.
const knockedShown = 3

// day is when a backup was made, empty for none.
func (b Backup) day(zone *time.Location) string {
	if b.At.IsZero() {
		return ""
	}
	return b.At.In(zone).Format("2006-01-02 15:04")
}

// UsageOf is what a sum of usage says of a day.
func UsageOf(day string, sum store.DayUsage) UsageToday {
	return UsageToday{
		Day: day, Calls: sum.Calls, InputTokens: sum.Input, OutputTokens: sum.Output, CacheReadInputTokens: sum.Cached,
		EstimatedTokens: sum.Estimated, CostUSD: float64(sum.Cost) / store.Dollar, UnpricedCalls: sum.Unpriced,
	}
}

const (
	// pollStale is how old the last good poll may be: two long polls and a margin.
	pollStale = 150 * time.Second
	// inboxStale is how long a message may wait for the end of its turn.
	inboxStale = 10 * time.Minute
	// replicaStale is how old a replica may be.
	replicaStale = 10 * time.Minute
)

// faults are the reasons to call the bot unhealthy, in words; none is healthy. A
// supervisor acts on them, so passing trouble is not among them.
func (s Status) faults(now time.Time) []string {
	var faults []string
	for _, h := range s.Channels {
		if fault := channelFault(h, now, s.Uptime); fault != "" {
			faults = append(faults, h.Channel+": "+fault)
		}
	}
	if s.Database.State != string(condition.OK) {
		faults = append(faults, "database: "+s.Database.State)
	}
	if oldest := s.Inbox.Oldest; !oldest.IsZero() && now.Sub(oldest) > inboxStale {
		faults = append(faults, fmt.Sprintf("inbox: a message has waited for %s", now.Sub(oldest).Round(time.Second)))
	}
	if b := s.Standby; b != nil && s.Uptime > replicaStale && b.old(now) {
		faults = append(faults, "standby: "+b.Text(now))
	}
	return faults
}

func (s Standby) old(now time.Time) bool {
	return now.Sub(s.Database) > replicaStale || now.Sub(s.Files) > replicaStale
}

// StatusOfWaiting is the status of a host that has waited for up.
func StatusOfWaiting(version string, s Standby, up time.Duration) Status {
	r, now := Status{Version: version, Uptime: up, Standby: &s}, time.Now()
	if s.Fault != "" || s.Complete && up > replicaStale && s.old(now) {
		r.Faults = []string{"standby: " + s.Text(now)}
	}
	r.Healthy = len(r.Faults) == 0
	return r
}

func channelFault(h gateway.Health, now time.Time, uptime time.Duration) string {
	silent := uptime
	if !h.LastPoll.IsZero() {
		silent = now.Sub(h.LastPoll)
	}
	switch {
	case h.State == "stopped":
		return "stopped"
	case h.State == "stale", slices.Contains([]string{"connecting", "conflict"}, h.State) && silent > pollStale:
		return fmt.Sprintf("%s, no good poll for %s", h.State, silent.Round(time.Second))
	}
	return ""
}

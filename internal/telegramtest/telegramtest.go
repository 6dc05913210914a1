// Package telegramtest is a strict fake of the Telegram Bot API server for
// tests: one bot, the chats as their people see them, and faults on demand.
//
// Simulated, with Telegram's own error texts: the update queue (offsets,
// negative offsets, offsets far in the future, limit, long polls, remembered
// allowed_updates, 24 h expiry, 409 for a second poller and for a set webhook),
// sending, editing and deleting text, documents, drafts, inline keyboards and
// callback queries, webhooks (with Config.Hook), reactions, topics, groups with privacy mode, membership, migration,
// the checks of texts, entities and buttons, and on request the message limits
// (one a second for a chat, 20 a minute for a group, 30 a second for all).
// Parameters come as multipart form, urlencoded form, JSON or query.
//
// Not simulated: parse_mode (it is recorded, the text stays as it came),
// video, animations and video notes, link previews, rich messages, inline mode, business
// accounts, administrators, the delay of repeated 409 answers and the shortened
// polls of hasty clients. Entities that cross are kept as they are, where Telegram
// cuts or drops some of them.
//
// A test in the same process uses the methods of Server; another process uses
// the same through HTTP below /control/ (see control.go). Whatever waits does so
// on a condition, never by sleeping, and all time comes from Config.Now and
// timers, so that the fake also works inside a testing/synctest bubble with a
// PipeListener.
package telegramtest

import (
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// UsualNetwork is a Config.Network as to Telegram from a machine nearby: a call
// takes 1 to 12 ms.
const UsualNetwork = 12 * time.Millisecond

// DefaultToken is the bot's token when Config names none.
const DefaultToken = "1000001:fake-token-for-tests"

// Config says what the server is like. The zero Config is ready to use.
type Config struct {
	// Token is the bot's token; empty means DefaultToken.
	Token string
	// Bot is who the bot is. A zero ID is taken from the token, empty names
	// become "Klaw" and "klaw_test_bot".
	Bot User
	// ReadsGroups is can_read_all_group_messages: privacy mode is off.
	ReadsGroups bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Limits turns the message limits on.
	Limits bool
	// Listener is where to serve; nil means a free port of 127.0.0.1. The
	// server closes it.
	Listener net.Listener
	// Hook delivers updates to the webhook that is set; nil delivers none.
	Hook *http.Client
	// NoDrafts makes the server one that does not know drafts yet.
	NoDrafts bool
	// Journal is how many calls are kept, at least; 0 means 10,000.
	Journal int
	// Network is how long a call takes at most on its way here and back; 0 is no
	// time at all. Each takes a time of its own, so calls that are under way at
	// once may be carried out in any order, as they may be at Telegram.
	Network time.Duration
	// FilesRoot, if set, makes the server one of the bot's own machine: getFile names
	// absolute paths in this folder, where the files lie.
	FilesRoot string
	// Seed makes the times of Network the same in each run; 0 takes a new one.
	Seed uint64
}

// Server is the fake. Its methods may be called from several goroutines.
type Server struct {
	config  Config
	url     string
	http    *http.Server
	served  chan struct{}
	closing chan struct{}

	mu          sync.Mutex // guards everything below
	changed     chan struct{}
	users       map[int64]User
	chats       map[int64]*chat
	lastMessage int64
	queue       queue
	webhook     hook
	deliveries  sync.WaitGroup
	commands    map[string][]Command
	description string
	queries     map[string]*query
	lastQuery   int64
	lastAlbum   int64
	files       map[string]File
	expired     map[string]bool
	voiceless   map[int64]bool // people who refuse voice messages
	pace        window
	faults      []*Fault
	inject      func(Call) *Fault
	journal     journal
	observe     func(Call)
	ways        *rand.Rand
}

// New starts a server. It panics when it cannot listen.
func New(c Config) *Server {
	s := &Server{
		config:  c.withDefaults(),
		served:  make(chan struct{}),
		closing: make(chan struct{}),
		users:   map[int64]User{},
		chats:   map[int64]*chat{},
		queries: map[string]*query{},
		files:   map[string]File{},
		expired: map[string]bool{}, voiceless: map[int64]bool{},
		commands: map[string][]Command{},
		queue:    queue{next: 1},
	}
	s.users[s.config.Bot.ID] = s.config.Bot
	s.journal.keep = s.config.Journal
	s.ways = rand.New(rand.NewPCG(s.config.Seed, 0))
	s.url = "http://" + s.config.Listener.Addr().String()
	s.http = &http.Server{Handler: s}
	go func() {
		defer close(s.served)
		// It always returns an error, after Close the one that says so.
		_ = s.http.Serve(s.config.Listener)
	}()
	return s
}

func (c Config) withDefaults() Config {
	if c.Token == "" {
		c.Token = DefaultToken
	}
	if c.Bot.ID == 0 {
		id, _, _ := strings.Cut(c.Token, ":")
		// A token without a number leaves the id 0, which is as good as any.
		c.Bot.ID, _ = strconv.ParseInt(id, 10, 64)
	}
	if c.Bot.FirstName == "" {
		c.Bot.FirstName = "Klaw"
	}
	if c.Bot.Username == "" {
		c.Bot.Username = "klaw_test_bot"
	}
	c.Bot.IsBot = true
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Journal == 0 {
		c.Journal = 10_000
	}
	if c.Listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic("telegramtest: " + err.Error())
		}
		c.Listener = l
	}
	return c
}

// URL is the server's address for the client, without a final slash.
func (s *Server) URL() string { return s.url }

// Token is the token that the server accepts.
func (s *Server) Token() string { return s.config.Token }

// Bot is who the bot is.
func (s *Server) Bot() User { return s.config.Bot }

// Close ends all polls and connections and waits until no request is served. It is
// to be called once.
func (s *Server) Close() {
	close(s.closing)
	// The listener's error on closing says nothing.
	_ = s.http.Close()
	<-s.served
	s.mu.Lock()
	s.webhook.end()
	s.mu.Unlock()
	s.deliveries.Wait()
}

// touch wakes everybody who waits for a condition. s.mu is held.
func (s *Server) touch() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

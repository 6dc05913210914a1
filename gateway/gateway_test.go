package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/gateway"
	"klawbot/whitelist"
)

// line is a channel that delivers what a test gives it and keeps what it sends.
type line struct {
	name    string
	updates []gateway.Update
	serve   error
	sent    []string
}

func (l *line) Name() string { return l.name }

func (l *line) Serve(ctx context.Context, accept gateway.Accept) error {
	if l.serve != nil {
		return l.serve
	}
	if err := accept(ctx, l.updates); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (l *line) Decode(u gateway.Update) (gateway.Message, error) {
	return gateway.Message{Text: string(u.Raw), Sender: gateway.Sender{ID: u.From, Name: string(u.Raw)}}, nil
}

func (l *line) Render(text string) []gateway.Part { return []gateway.Part{{Text: text}} }

func (l *line) Send(_ context.Context, to gateway.Address, p gateway.Part) (int64, error) {
	l.sent = append(l.sent, fmt.Sprintf("send %s %s", to, p.Text))
	return 1, nil
}

func (l *line) Edit(_ context.Context, to gateway.Address, id int64, p gateway.Part) error {
	l.sent = append(l.sent, fmt.Sprintf("edit %s %s", to, p.Text))
	return nil
}

func (l *line) Delete(_ context.Context, to gateway.Address, id int64) error {
	l.sent = append(l.sent, fmt.Sprintf("delete %s", to))
	return nil
}

func (l *line) Health() gateway.Health { return gateway.Health{Channel: l.name, State: "ok"} }

// sink is a handler that keeps what it accepts.
type sink struct{ got []gateway.Update }

func (s *sink) Accept(_ context.Context, updates []gateway.Update) error {
	s.got = append(s.got, updates...)
	return nil
}

func update(chat int64, text string) gateway.Update {
	return gateway.Update{
		Channel: "telegram", Bot: 1, ID: chat, Kind: "message", From: chat,
		Address: gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: chat}}, Raw: []byte(text),
	}
}

func door(t *testing.T, list *whitelist.List, log *bytes.Buffer, channels ...gateway.Channel) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Config{
		Channels: channels, Whitelist: func() whitelist.List { return *list }, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestStrangersStayOutAndAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := whitelist.List{"telegram": {Chats: []int64{11}}}
		var log bytes.Buffer
		l := &line{name: "telegram"}
		for range 100 {
			l.updates = append(l.updates, update(22, "let me in"))
		}
		l.updates = append(l.updates, update(11, "hello"), gateway.Update{Channel: "telegram", Bot: 1, ID: 9, Fault: "not JSON"})
		g := door(t, &list, &log, l)
		ctx, cancel := context.WithCancel(t.Context())
		var s sink
		ended := make(chan error)
		go func() { ended <- g.Serve(ctx, &s) }()
		synctest.Wait()
		if len(s.got) != 2 || string(s.got[0].Raw) != "hello" || s.got[1].Fault == "" {
			t.Errorf("accepted %+v, want the listed chat and the broken update", s.got)
		}
		if n := strings.Count(log.String(), "unknown sender blocked"); n != 1 {
			t.Errorf("%d log lines about the stranger, want 1", n)
		}
		if h := g.Health()[0]; h.Strangers != 100 {
			t.Errorf("%d strangers counted, want 100", h.Strangers)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestAStrangersNameIsOneHarmlessWord: it is foreign text.
func TestAStrangersNameIsOneHarmlessWord(t *testing.T) {
	for name, want := range map[string]string{
		"Eve":                     "name=Eve ",
		"Eve\n\x1b[2J\u202eevil":  `name="Eve ` + "\uFFFD[2J\uFFFD" + `evil" `,
		strings.Repeat("x", 5000): "name=" + strings.Repeat("x", 64) + "… ",
	} {
		list := whitelist.List{}
		var log bytes.Buffer
		g := door(t, &list, &log, &line{name: "telegram", updates: []gateway.Update{update(22, name)}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Serve(ctx, &sink{}) }()
		for g.Health()[0].Strangers == 0 {
			runtime.Gosched()
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is logged as %s, want %s", name, log.String(), want)
		}
	}
}

func TestStrangersLogLineComesBackAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := whitelist.List{}
		var log bytes.Buffer
		l := &line{name: "telegram", updates: []gateway.Update{update(22, "x")}}
		g := door(t, &list, &log, l)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			if err := g.Serve(ctx, &sink{}); err != nil {
				t.Error(err)
			}
			cancel()
		}
		// Turned away at 0, 40 and 80 seconds.
		if n := strings.Count(log.String(), "unknown sender blocked"); n != 2 {
			t.Errorf("%d log lines, want 2", n)
		}
	})
}

func TestNothingLeavesForAChatThatIsNotListed(t *testing.T) {
	list := whitelist.List{"telegram": {Chats: []int64{11}}}
	var log bytes.Buffer
	l := &line{name: "telegram"}
	g := door(t, &list, &log, l)
	to := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 22}}
	_, sendErr := g.Send(t.Context(), to, gateway.Part{Text: "x"})
	for what, err := range map[string]error{
		"send": sendErr, "edit": g.Edit(t.Context(), to, 1, gateway.Part{}), "delete": g.Delete(t.Context(), to, 1),
		"typing": g.Typing(t.Context(), to), "answer": g.Answer(t.Context(), to, "q", ""),
	} {
		fail, ok := errors.AsType[*gateway.SendError](err)
		if !ok || fail.Kind != gateway.Refused || fail.Err.Error() != "chatId telegram_22 not in allowedChatIds" {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	if len(l.sent) != 0 {
		t.Errorf("the channel got %q", l.sent)
	}
	list["telegram"] = whitelist.Rules{Chats: []int64{11, 22}}
	if _, err := g.Send(t.Context(), to, gateway.Part{Text: "now"}); err != nil || !slices.Equal(l.sent, []string{"send telegram_22 now"}) {
		t.Errorf("after the list grew: %v, %q", err, l.sent)
	}
}

func TestMessageForAChannelThatIsOffWaits(t *testing.T) {
	list := whitelist.List{"telegram": {Chats: []int64{11}}, "console": {Local: true}}
	var log bytes.Buffer
	g := door(t, &list, &log, &line{name: "console"})
	_, err := g.Send(t.Context(), gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 11}}, gateway.Part{})
	if fail, ok := errors.AsType[*gateway.SendError](err); !ok || fail.Kind != gateway.Stopped {
		t.Errorf("got %v, want that the channel is stopped", err)
	}
}

func TestChannelThatStopsLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := whitelist.List{}
		var log bytes.Buffer
		broken := &line{name: "telegram", serve: errors.New("unknown token")}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- door(t, &list, &log, broken, &line{name: "console"}).Serve(ctx, &sink{}) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("serve ended with %v", err)
		default:
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		err := door(t, &list, &log, broken).Serve(t.Context(), &sink{})
		if err == nil || err.Error() != "telegram: unknown token" {
			t.Errorf("the last channel ended with %v", err)
		}
	})
}

func TestTwoChannelsOfOneName(t *testing.T) {
	c := gateway.Config{Channels: []gateway.Channel{&line{name: "a"}, &line{name: "a"}}, Log: slog.New(slog.DiscardHandler)}
	if _, err := gateway.New(c); err == nil {
		t.Error("two channels of one name are taken")
	}
	if _, err := gateway.New(gateway.Config{Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("no channel at all is taken")
	}
}

func TestChatIDText(t *testing.T) {
	for text, want := range map[string]gateway.ChatID{
		"telegram_-100123": {Channel: "telegram", ID: -100123},
		"console_default":  {Channel: "console"},
	} {
		got, err := gateway.ParseChatID(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s reads as %+v (%v)", text, got, err)
		}
	}
	if _, err := gateway.ParseChatID("123"); err == nil || !strings.Contains(err.Error(), "needs its channel") {
		t.Errorf("a bare id gives %v", err)
	}
	if a := (gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -5}, Thread: 7}); a.String() != "telegram_-5_7" {
		t.Errorf("address reads as %s", a)
	}
}

func TestMovedChatIsLetInUnderItsNewID(t *testing.T) {
	list := whitelist.List{"telegram": {Chats: []int64{-5}}}
	var log bytes.Buffer
	moved := update(-5, "moved")
	moved.From, moved.FromBot, moved.MovedTo = 7, true, -1005
	after := update(-1005, "after")
	after.From, after.Group = 11, true
	forged := update(-6, "forged")
	forged.MovedTo = -1006
	stranger := update(-1006, "stranger")
	l := &line{name: "telegram", updates: []gateway.Update{moved, after, forged, stranger}}
	calls := 0
	g, err := gateway.New(gateway.Config{
		Channels: []gateway.Channel{l}, Whitelist: func() whitelist.List { return list }, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Migrated: func(chat gateway.ChatID, to int64) {
			calls++
			list = whitelist.List{chat.Channel: {Chats: []int64{to}}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got sink
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Serve(ctx, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.got) != 2 || string(got.got[1].Raw) != "after" {
		t.Fatalf("let in %v", got.got)
	}
	old := gateway.ChatID{Channel: "telegram", ID: -5}
	g.Migrate(old, -1005)
	_, err = g.Send(t.Context(), gateway.Address{Chat: old}, gateway.Part{Text: "x"})
	if fail, ok := errors.AsType[*gateway.SendError](err); !ok || fail.Kind != gateway.Moved || fail.MigrateTo != -1005 {
		t.Errorf("a send to the old id: %v", err)
	}
	if err := g.Reachable(gateway.ChatID{Channel: "telegram", ID: -1005}); err != nil || calls != 1 {
		t.Errorf("the new id: %v after %d calls", err, calls)
	}
	if err := g.Allowed(moved); err != nil {
		t.Errorf("the notice, asked again: %v", err)
	}
}

func TestDraftOfAChannelWithoutThem(t *testing.T) {
	list := whitelist.List{"telegram": {Chats: []int64{11}}}
	var log bytes.Buffer
	g := door(t, &list, &log, &line{name: "telegram"})
	for chat, want := range map[int64]gateway.Failure{11: gateway.Rejected, 12: gateway.Refused} {
		err := g.Draft(t.Context(), gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: chat}}, 1, gateway.Part{})
		if fail, ok := errors.AsType[*gateway.SendError](err); !ok || fail.Kind != want {
			t.Errorf("chat %d: %v, want %s", chat, err, want)
		}
	}
}

// TestAFloodOfStrangersInOneChatIsOneLine: a group that is not allowed has many
// people, and each of them may write.
func TestAFloodOfStrangersInOneChatIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := whitelist.List{"telegram": {Chats: []int64{11}}}
		var log bytes.Buffer
		l := &line{name: "telegram"}
		for person := range int64(100) {
			u := update(-500, "let me in")
			u.From, u.Group = person+1, true
			l.updates = append(l.updates, u)
		}
		g := door(t, &list, &log, l)
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		if err := g.Serve(ctx, &sink{}); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "unknown sender blocked"); n != 1 {
			t.Errorf("%d log lines about the group, want 1", n)
		}
		if h := g.Health()[0]; h.Strangers != 100 {
			t.Errorf("%d strangers counted, want 100", h.Strangers)
		}
	})
}

// TestWhatCannotBeReadOfAStrangerIsNotStored: it is known where it comes from.
func TestWhatCannotBeReadOfAStrangerIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := whitelist.List{"telegram": {Chats: []int64{11}}}
		var log bytes.Buffer
		l := &line{name: "telegram"}
		for _, chat := range []int64{66, -500, 11, 0} {
			u := update(chat, "x")
			u.From, u.Fault = 0, "not understood"
			l.updates = append(l.updates, u)
		}
		g := door(t, &list, &log, l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var s sink
		if err := g.Serve(ctx, &s); err != nil {
			t.Error(err)
		}
		if len(s.got) != 2 || s.got[0].Address.Chat.ID != 11 || s.got[1].Address.Chat.ID != 0 {
			t.Errorf("accepted %+v, want what is of the listed chat, and of no known one", s.got)
		}
	})
}

// guard is a sink that is told who knocked.
type guard struct {
	sink
	knocks []gateway.Knock
}

func (g *guard) Knocked(_ context.Context, k []gateway.Knock) { g.knocks = append(g.knocks, k...) }

// knocker is a line whose messages are decoded as written by people.
type knocker struct{ line }

func (k *knocker) Decode(u gateway.Update) (gateway.Message, error) {
	if u.Fault != "" {
		return gateway.Message{}, errors.New(u.Fault)
	}
	m := gateway.Message{Kind: gateway.KindText, Group: u.Group, Text: "words", Sender: gateway.Sender{ID: u.From, Name: string(u.Raw)}}
	switch m.Title = "Group " + string(u.Raw); u.Kind {
	case "edited_message":
		m.Kind = gateway.KindEdit
	case "my_chat_member":
		m.Kind, m.Member = gateway.KindMember, gateway.MemberJoined
	case "left":
		m.Kind, m.Member = gateway.KindMember, gateway.MemberLeft
	}
	return m, nil
}

// TestKnocks: the handler is told who wrote without being allowed, once a minute, and
// never what. Whom a group may not hear knocks at no door.
func TestKnocks(t *testing.T) {
	list := whitelist.List{"telegram": {Chats: []int64{11, -100}, Users: []int64{11}}}
	var log bytes.Buffer
	of := func(u gateway.Update, change func(*gateway.Update)) gateway.Update {
		change(&u)
		return u
	}
	group := func(u *gateway.Update) { u.Group, u.From = true, 22 }
	l := &knocker{line{name: "telegram", updates: []gateway.Update{
		update(22, "Ann"), update(22, "Ann"), update(22, "Ann"),
		of(update(23, "edits"), func(u *gateway.Update) { u.Kind = "edited_message" }),
		of(update(24, "robot"), func(u *gateway.Update) { u.FromBot = true }),
		of(update(25, "forged"), func(u *gateway.Update) { u.From = 11 }),
		of(update(26, "broken"), func(u *gateway.Update) { u.Fault = "x" }),
		of(update(-100, "member of an allowed group"), group),
		of(update(-200, "Bob"), group),
		of(of(update(-300, "Bob"), group), func(u *gateway.Update) { u.Kind = "my_chat_member" }),
		of(of(update(-400, "Bob"), group), func(u *gateway.Update) { u.Kind = "left" }),
		update(11, "hello"),
	}}}
	synctest.Test(t, func(t *testing.T) {
		g := door(t, &list, &log, l)
		var s guard
		serve := func() {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- g.Serve(ctx, &s) }()
			synctest.Wait()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		serve()
		want := []gateway.Knock{
			{Chat: gateway.ChatID{Channel: "telegram", ID: 22}, Name: "Ann", Times: 1},
			{Chat: gateway.ChatID{Channel: "telegram", ID: -200}, Name: "Group Bob", Times: 1},
			{Chat: gateway.ChatID{Channel: "telegram", ID: -300}, Name: "Group Bob", Times: 1},
		}
		if !slices.Equal(s.knocks, want) || len(s.got) != 1 {
			t.Errorf("told of %+v, accepted %d", s.knocks, len(s.got))
		}
		time.Sleep(time.Minute)
		s.knocks = nil
		serve()
		if len(s.knocks) != 3 || s.knocks[0].Times != 3 {
			t.Errorf("a minute later told of %+v", s.knocks)
		}
	})
}

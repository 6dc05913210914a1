package console_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
	"klawbot/gateway/console"
)

// desk is a served console with what it accepted.
type desk struct {
	channel *console.Channel
	socket  string

	mu      sync.Mutex
	updates []gateway.Update
	refuse  error
	slow    func() // what happens while a message is stored
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		channel: console.New(console.Config{Log: slog.New(slog.DiscardHandler)}),
		socket:  filepath.Join(t.TempDir(), "s"),
	}
	ln, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.StripPrefix("/console", d.channel)}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(ln) })
	done.Go(func() {
		_ = d.channel.Serve(ctx, func(_ context.Context, u []gateway.Update) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.slow != nil {
				d.slow()
			}
			if d.refuse == nil {
				d.updates = append(d.updates, u...)
			}
			return d.refuse
		})
	})
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		done.Wait()
	})
	return d
}

func (d *desk) client(t *testing.T) *console.Client {
	t.Helper()
	return console.NewClient(d.http(t), "http://klawbot/console")
}

func (d *desk) http(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// attach opens a terminal; the returned function ends it.
func (d *desk) attach(t *testing.T) (<-chan console.Event, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan console.Event, 100)
	var done sync.WaitGroup
	c := d.client(t)
	done.Go(func() {
		_ = c.Events(ctx, func(e console.Event) error { events <- e; return nil })
	})
	end := sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(end)
	if e := next(t, events); e.Type != console.TypeReady {
		t.Fatalf("first event is %q", e.Type)
	}
	return events, end
}

func next(t *testing.T, events <-chan console.Event) console.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(time.Minute):
		t.Fatal("no event")
		return console.Event{}
	}
}

var here = gateway.Address{Chat: gateway.ChatID{Channel: console.Name}}

func TestMessageIsStoredBeforeItIsAnswered(t *testing.T) {
	d := newDesk(t)
	first, err := d.client(t).Say(t.Context(), "hello")
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.client(t).Say(t.Context(), "/Model  main now")
	if err != nil {
		t.Fatal(err)
	}
	if second <= first {
		t.Errorf("ids %d, %d do not grow", first, second)
	}
	if len(d.updates) != 2 {
		t.Fatalf("%d updates stored, want 2", len(d.updates))
	}
	m, err := d.channel.Decode(d.updates[1])
	if err != nil {
		t.Fatal(err)
	}
	m.Time = time.Time{}
	want := gateway.Message{
		Kind: gateway.KindText, Address: here, ID: second, Addressed: true,
		Sender: gateway.Sender{ID: console.User, Name: "you"},
		Text:   "/Model  main now", Command: "model", Args: "main now",
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

func TestMessageThatIsNotStoredIsRefused(t *testing.T) {
	d := newDesk(t)
	d.refuse = errors.New("disk full")
	if _, err := d.client(t).Say(t.Context(), "hello"); err == nil {
		t.Error("a message that was not stored was accepted")
	}
}

func TestEveryTerminalSeesTheAnswerGrow(t *testing.T) {
	d := newDesk(t)
	one, _ := d.attach(t)
	two, _ := d.attach(t)
	id, err := d.channel.Send(t.Context(), here, gateway.Part{Text: "…"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.channel.Edit(t.Context(), here, id, gateway.Part{Text: "done", Last: true}); err != nil {
		t.Fatal(err)
	}
	want := []console.Event{
		{Type: console.TypeMessage, ID: id, Text: "…"},
		{Type: console.TypeEdit, ID: id, Text: "done", Last: true},
	}
	for _, events := range []<-chan console.Event{one, two} {
		got := []console.Event{next(t, events), next(t, events)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	d := newDesk(t)
	retry := func() {
		t.Helper()
		_, err := d.channel.Send(t.Context(), here, gateway.Part{Text: "hello"})
		var failure *gateway.SendError
		if !errors.As(err, &failure) || failure.Kind != gateway.Retry || failure.RetryAfter <= 0 {
			t.Errorf("Send to nobody: %v, want a retry", err)
		}
	}
	retry()
	if err := d.channel.Typing(t.Context(), here); err != nil {
		t.Errorf("Typing to nobody: %v", err)
	}
	_, leave := d.attach(t)
	leave()
	for d.channel.Delete(t.Context(), here, 1) == nil && attached(d) {
		// The server notices a moment later that the terminal has gone.
	}
	retry()
}

// attached says whether a message still finds a terminal.
func attached(d *desk) bool {
	_, err := d.channel.Send(context.Background(), here, gateway.Part{Text: "there?"})
	return err == nil
}

func TestBotWithoutConsole(t *testing.T) {
	d := newDesk(t)
	elsewhere := console.NewClient(d.http(t), "http://klawbot/nowhere")
	if err := elsewhere.Events(t.Context(), func(console.Event) error { return nil }); !errors.Is(err, console.ErrOff) {
		t.Errorf("Events: %v, want ErrOff", err)
	}
}

func TestOtherChatsDoNotExist(t *testing.T) {
	d := newDesk(t)
	_, err := d.channel.Send(t.Context(), gateway.Address{Chat: gateway.ChatID{Channel: console.Name, ID: 5}}, gateway.Part{Text: "x"})
	var failure *gateway.SendError
	if !errors.As(err, &failure) || failure.Kind != gateway.Dead {
		t.Errorf("Send to another chat: %v, want dead", err)
	}
}

func TestRenderKeepsMarkdown(t *testing.T) {
	c := console.New(console.Config{Log: slog.New(slog.DiscardHandler)})
	if parts := c.Render(" \n"); len(parts) != 0 {
		t.Errorf("blank text makes %d parts", len(parts))
	}
	if diff := cmp.Diff([]gateway.Part{{Text: "**hi**"}}, c.Render("**hi**")); diff != "" {
		t.Error(diff)
	}
}

func TestFilesAreNamedWithTheirPlace(t *testing.T) {
	d := newDesk(t)
	events, _ := d.attach(t)
	for _, tt := range []struct {
		part gateway.Part
		want string
	}{
		{gateway.Part{Text: "look", Document: &gateway.Document{Name: "a.png", Sum: "0a", Size: 12, Path: "/data/outgoing/0a"}}, "look\n[file a.png, 12 bytes: /data/outgoing/0a]"},
		{gateway.Part{Document: &gateway.Document{Name: "a.md", Content: "# A"}}, "[file a.md, 3 bytes]"},
	} {
		if _, err := d.channel.Send(t.Context(), here, tt.part); err != nil {
			t.Fatal(err)
		}
		if e := next(t, events); e.Text != tt.want {
			t.Errorf("the terminal shows %q, want %q", e.Text, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"text":"/x y"}`))
	f.Add([]byte(`{"text":"/"}`))
	f.Add([]byte(`nonsense`))
	c := console.New(console.Config{Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := c.Decode(gateway.Update{Raw: raw})
		if err == nil && m.Kind != gateway.KindText {
			t.Errorf("kind %q", m.Kind)
		}
	})
}

// TestADiskThatHangsHoldsNoAnswerBack: while a message is stored, for however long,
// the bot can send.
func TestADiskThatHangsHoldsNoAnswerBack(t *testing.T) {
	d := newDesk(t)
	address := gateway.Address{Chat: gateway.ChatID{Channel: console.Name}}
	left := false
	d.slow = func() {
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = d.channel.Send(t.Context(), address, gateway.Part{Text: "hello"}) // nobody is attached
		}()
		select {
		case <-sent:
			left = true
		case <-time.After(time.Minute):
		}
	}
	if _, err := d.client(t).Say(t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !left {
		t.Error("a message that leaves waits for one that is stored")
	}
}

// Showing what the bot does never delays it.
func TestWorkIsShownToWhoLooks(t *testing.T) {
	d := newDesk(t)
	work := gateway.Work{Kind: gateway.WorkTool, Tool: "shell", Detail: "du -sh notes", Since: time.Unix(1000, 0).UTC()}
	if err := d.channel.Work(t.Context(), here, work); err != nil {
		t.Errorf("without a terminal: %v", err)
	}
	events, _ := d.attach(t)
	if err := d.channel.Work(t.Context(), here, work); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(console.Event{Type: console.TypeWork, Work: &work}, next(t, events)); diff != "" {
		t.Error(diff)
	}
	elsewhere := gateway.Address{Chat: gateway.ChatID{Channel: console.Name, ID: 5}}
	if err := d.channel.Work(t.Context(), elsewhere, work); err != nil {
		t.Error(err)
	}
	if err := d.channel.Work(t.Context(), here, gateway.Work{Kind: gateway.WorkIdle}); err != nil {
		t.Fatal(err)
	}
	if e := next(t, events); e.Work == nil || e.Work.Kind != gateway.WorkIdle {
		t.Errorf("got %+v", e)
	}
}

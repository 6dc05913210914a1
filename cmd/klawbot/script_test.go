package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"klawbot/engine"
	"klawbot/internal/modeltest"
	"klawbot/internal/needs"
	"klawbot/internal/telegramtest"
	"klawbot/tools/sandbox"
)

func TestMain(m *testing.M) {
	engine.MediaMain()
	// A program with the race detector sleeps for a second when it ends, and the
	// tests start hundreds.
	if os.Getenv(raceOptions) == "" {
		if err := os.Setenv(raceOptions, "atexit_sleep_ms=10"); err != nil {
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){"klawbot": main, "mcpserver": serveMCP, "litestream-double": serveLitestream})
}

// TestScripts runs the stories in testdata with the real program, a fake
// Telegram and a fake model. Beside testscript's own commands they have:
//
//	say USER TEXT          a person writes to the bot in the private chat
//	say USER CHAT TEXT     the same in a group, which is made when it is new
//	expect CHAT REGEXP     wait until a new message of the bot matches
//	shown CHAT REGEXP      wait until a message matches, also an older one that was edited
//	press USER CHAT BUTTON a person presses the last button with the text
//	silent CHAT            the bot has said nothing in the chat
//	migrate CHAT NEW       a group becomes a supergroup with a new id
//	reply TEXT             the model answers the next request with the text
//	call TOOL JSON         the model answers the next request with a tool call
//	asked N                the model was asked N times
//	lookfor REGEXP FILE    wait until the file matches
//	waitstatus REGEXP      wait until klawbot status matches
//	attach USER [CHAT] KIND FILE [TEXT]   a person sends a file: document, photo, voice, audio, sticker.
//	                       A FILE like 30x20.png is drawn when it is not there. forward before KIND: somebody
//	                       else made it; long: it lasts 3 hours
//	album USER [CHAT] FILE... TEXT   a person sends photos as one album, with TEXT below the second
//	seen REGEXP            the last request to the model matches, pictures as "<black 30x20>"
//	called METHOD N        wait until Telegram's method was called N times; "file" is a download
//	refuse METHOD TEXT     Telegram refuses the next call so
//	ears TEXT              start a server at $EARS_URL that hears the text in every recording
//	mouth FILE             a server at $MOUTH_URL speaks from now on, and writes the text to FILE; none: it fails
//	forbidvoice USER       a person takes no voice messages
//	chatpage CHAT FILE     write the chat as a page, as a phone would show it
//	needs WHAT...          it does not run where a program or a sandbox is missing
//	untilheard CHAT TEXT REGEXP   say the text until the bot answers
//
// The bot's folder is $KLAWBOT_HOME; $TELEGRAM_URL, $TOKEN, $MODEL_URL and
// $MODEL_KEY name the fakes. $HOOK_ADDR is where a webhook may listen; the fake
// Telegram reaches it as https://bot.test/, the reverse proxy left out.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: setFakes, Cmds: storyCommands})
}

// storyCommands are the commands of stories.
var storyCommands = map[string]func(*testscript.TestScript, bool, []string){
	"say": say, "expect": expect, "shown": expectAny, "silent": silent, "reply": modelReply, "call": modelCall,
	"asked": asked, "lookfor": lookFor, "waitstatus": waitStatus, "untilheard": untilHeard, "migrate": migrate,
	"press": press, "needs": needsProgram, "attach": sendFile, "album": sendAlbum, "seen": seen, "called": called, "refuse": refuse, "ears": startEars,
	"mouth": startMouth, "forbidvoice": forbidVoice, "chatpage": showChat,
}

// raceOptions is the variable that the race detector reads.
const raceOptions = "GORACE"

// scriptTimeout is how long a story waits for one thing, on a machine that has
// other work too.
const scriptTimeout = 2 * time.Minute

// scriptKey is the model's key; stories check that it is never seen.
const scriptKey = "sk-canary-of-the-stories"

// fakes are the worlds of one story.
type fakes struct {
	telegram *telegramtest.Server
	model    *modeltest.Server
	heard    map[int64]int64        // chat → the last message that was expected
	mouth    atomic.Pointer[string] // the file of what is spoken, nil before there is a mouth
}

func setFakes(env *testscript.Env) error {
	hook, err := hookAddress()
	if err != nil {
		return err
	}
	proxy := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // bots come and go
		DialTLSContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, hook)
		},
	}}
	f := &fakes{telegram: telegramtest.New(telegramtest.Config{Hook: proxy}), model: modeltest.Start(scriptKey), heard: map[int64]int64{}}
	env.Setenv("HOOK_ADDR", hook)
	env.Defer(f.telegram.Close)
	env.Defer(f.model.Close)
	env.Values["fakes"] = f
	env.Values["test"] = env.T()
	env.Setenv(raceOptions, os.Getenv(raceOptions))
	env.Setenv("KLAWBOT_HOME", env.WorkDir+"/home")
	env.Setenv("KLAWBOT_HEALTH__LISTEN", "") // stories run beside each other
	env.Setenv("TELEGRAM_URL", f.telegram.URL())
	env.Setenv("TOKEN", f.telegram.Token())
	env.Setenv("MODEL_URL", f.model.URL+"/v1")
	env.Setenv("MODEL_KEY", scriptKey)
	return os.MkdirAll(env.WorkDir+"/home", 0o700)
}

// hookAddress is a free port of the loopback.
func hookAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func fakesOf(ts *testscript.TestScript) *fakes { return ts.Value("fakes").(*fakes) }

// number is the argument as an id.
func number(ts *testscript.TestScript, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	ts.Check(err)
	return n
}

// plainly refuses the negation of a command that has none.
func plainly(ts *testscript.TestScript, neg bool, args []string, want int) {
	if neg || len(args) < want {
		ts.Fatalf("wrong use; see TestScripts")
	}
}

func needsProgram(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	t := ts.Value("test").(testscript.T)
	for _, what := range args {
		switch what {
		case sandbox.TypeLandlock, sandbox.TypeBwrap:
			needs.Sandbox(t, what)
		case "python":
			needs.Python(t)
		default:
			needs.Program(t, what, what)
		}
	}
}

func say(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	f := fakesOf(ts)
	user := number(ts, args[0])
	person := f.telegram.User(user)
	if len(args) == 2 {
		person.Send(args[1])
		return
	}
	group := number(ts, args[1])
	f.telegram.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Group"}, telegramtest.Open)
	person.In(group).Send(args[2])
}

func expect(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	chat := number(ts, args[0])
	f := fakesOf(ts)
	f.heard[chat] = waitText(ts, chat, f.heard[chat], args[1])
}

// expectAny is expect for any message, such as one that was edited.
func expectAny(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	waitText(ts, number(ts, args[0]), 0, args[1])
}

func waitText(ts *testscript.TestScript, chat, after int64, text string) (id int64) {
	f := fakesOf(ts)
	pattern, err := regexp.Compile(text)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	m, err := f.telegram.WaitText(ctx, chat, after, pattern)
	if err != nil {
		ts.Fatalf("%v\n%s", err, f.telegram.Transcript(chat))
	}
	return m.ID
}

func press(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 3)
	_, err := fakesOf(ts).telegram.User(number(ts, args[0])).In(number(ts, args[1])).Press(0, args[2])
	ts.Check(err)
}

func silent(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	f := fakesOf(ts)
	chat := number(ts, args[0])
	for _, m := range f.telegram.Messages(chat) {
		if m.From == f.telegram.Bot().ID {
			ts.Fatalf("the bot spoke:\n%s", f.telegram.Transcript(chat))
		}
	}
}

func migrate(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	fakesOf(ts).telegram.Migrate(number(ts, args[0]), number(ts, args[1]))
}

func modelReply(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	fakesOf(ts).model.Push(modeltest.Text(args[0]))
}

func modelCall(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	fakesOf(ts).model.Push(modeltest.CallTool(args[0], args[1]))
}

func asked(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	if got := len(fakesOf(ts).model.Completions()); int64(got) != number(ts, args[0]) {
		ts.Fatalf("the model was asked %d times, want %s", got, args[0])
	}
}

// eventually looks again and again until ok or the time is over, and then
// fails with what was seen last.
func eventually(ts *testscript.TestScript, look func() (ok bool, seen string)) {
	deadline := time.NewTimer(scriptTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, seen := look()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			ts.Fatalf("it did not come; the last was:\n%s", seen)
		}
	}
}

func lookFor(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 2)
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	file := ts.MkAbs(args[1])
	eventually(ts, func() (bool, string) {
		text, err := os.ReadFile(file)
		if err != nil {
			return false, err.Error()
		}
		return pattern.Match(text), string(text)
	})
}

func waitStatus(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 1)
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	eventually(ts, func() (bool, string) {
		err := ts.Exec("klawbot", "status") // fails, too, when a part is broken
		text := ts.ReadFile("stdout")
		return pattern.MatchString(text), fmt.Sprint(text, err)
	})
}

// untilHeard is for effects within a second that have no signal.
func untilHeard(ts *testscript.TestScript, neg bool, args []string) {
	plainly(ts, neg, args, 3)
	f := fakesOf(ts)
	chat := number(ts, args[0])
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	f.telegram.User(chat).Send(args[1])
	eventually(ts, func() (bool, string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := f.telegram.WaitText(ctx, chat, f.heard[chat], pattern)
		if err != nil {
			f.telegram.User(chat).Send(args[1])
		}
		return err == nil, f.telegram.Transcript(chat)
	})
}

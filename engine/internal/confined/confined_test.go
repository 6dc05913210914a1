package confined_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/confined"
)

// botInput is the variable by which the test binary knows that it plays a bot, which
// reads this file.
const botInput = "KLAWBOT_TEST_INPUT"

// beforeMain is what a program gets that does not call Main.
var beforeMain error

func TestMain(m *testing.M) {
	if len(os.Args) != 2 { // a child would start another
		_, beforeMain = confined.Run(context.Background(), confined.Job{Kind: "read", Input: os.Args[0]})
	}
	confined.Main(kinds)
	if input := os.Getenv(botInput); input != "" {
		fmt.Println("begins")
		_, err := confined.Run(context.Background(), confined.Job{Kind: "linger", Input: input, Limit: time.Hour})
		fmt.Println("ended", err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// kinds are what the children of these tests do.
var kinds = map[string]confined.Kind{
	"read": func(_ context.Context, job confined.Job, _ string) (confined.Result, error) {
		text, err := os.ReadFile(job.Input)
		if err != nil {
			return confined.Result{}, err
		}
		return confined.Result{Text: string(text), Data: text, Meta: map[string]string{"limit": job.Limit.String(), "color": job.Options["color"]}}, nil
	},
	"reach": func(_ context.Context, job confined.Job, scratch string) (confined.Result, error) {
		var said []string
		say := func(what string, err error) { said = append(said, fmt.Sprintf("%s: %t", what, err == nil)) }
		_, err := os.ReadFile(job.Options["outside"])
		say("outside", err)
		say("change input", os.WriteFile(job.Input, nil, 0o600))
		say("scratch", os.WriteFile(filepath.Join(scratch, "a"), nil, 0o600))
		_, err = os.ReadFile(job.Options["granted"])
		say("granted", err)
		_, err = net.Dial("tcp", job.Options["server"])
		say("network", err)
		out, err := exec.Command("cat", job.Options["outside"]).Output()
		say("program", err)
		_, token := os.LookupEnv("SECRET_OF_BOT")
		return confined.Result{Text: strings.Join(said, "\n") + fmt.Sprintf("\n%q %t", out, token), Meta: map[string]string{"scratch": scratch}}, nil
	},
	"hog": func(context.Context, confined.Job, string) (confined.Result, error) {
		var all [][]byte
		for range time.Tick(time.Millisecond) { // as slowly as a real reader
			all = append(all, bytes.Repeat([]byte{1}, 4<<20))
			runtime.KeepAlive(all)
		}
		return confined.Result{}, nil
	},
	"hang": func(context.Context, confined.Job, string) (confined.Result, error) { select {} },
	"patient": func(ctx context.Context, _ confined.Job, _ string) (confined.Result, error) {
		<-ctx.Done()
		return confined.Result{Text: "so far"}, nil
	},
	"flood": func(context.Context, confined.Job, string) (confined.Result, error) {
		return confined.Result{Data: make([]byte, confined.MaxOutput+1)}, nil
	},
	"panic": func(context.Context, confined.Job, string) (confined.Result, error) {
		panic("secret words of the file")
	},
	"index": func(_ context.Context, j confined.Job, _ string) (confined.Result, error) {
		return confined.Result{Text: j.Input[1000:]}, nil
	},
	"deep": func(context.Context, confined.Job, string) (confined.Result, error) {
		return confined.Result{Text: fmt.Sprint(deep(1))}, nil
	},
	"exit": func(context.Context, confined.Job, string) (confined.Result, error) {
		os.Exit(3)
		return confined.Result{}, nil
	},
	"locked": func(context.Context, confined.Job, string) (confined.Result, error) {
		return confined.Result{}, &confined.Fault{Kind: confined.Locked, Detail: "aes"}
	},
	"fails": func(context.Context, confined.Job, string) (confined.Result, error) {
		return confined.Result{}, errors.New("no model")
	},
	"garbage": func(context.Context, confined.Job, string) (confined.Result, error) {
		return confined.Result{Text: "a\xff\x00b"}, nil
	},
	"linger": func(context.Context, confined.Job, string) (confined.Result, error) {
		return confined.Result{}, exec.Command("sleep", "300").Run()
	},
}

// TestProgramWithoutMainStartsNoChild: the child would be the program once more.
func TestProgramWithoutMainStartsNoChild(t *testing.T) {
	if beforeMain == nil || !strings.Contains(beforeMain.Error(), "confined.Main") {
		t.Errorf("%v", beforeMain)
	}
}

// deep overflows the stack.
func deep(n int) int {
	if n < 0 {
		return 0
	}
	return deep(n+1) + 1
}

func input(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnswerOfAChild: text, data, meta; the child knows its options and its limit.
func TestAnswerOfAChild(t *testing.T) {
	job := confined.Job{Kind: "read", Input: input(t), Options: map[string]string{"color": "red"}, Limit: 20 * time.Second}
	r, err := confined.Run(t.Context(), job)
	if err != nil || r.Text != "words" || string(r.Data) != "words" || r.Meta["limit"] != "20s" || r.Meta["color"] != "red" {
		t.Fatalf("%+v, %v", r, err)
	}
	job.Kind = "garbage"
	if r, err := confined.Run(t.Context(), job); err != nil || r.Text != "a\uFFFD\x00b" || r.Data != nil {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// TestChildReachesNothingElse: no other file, no network, no variable of the bot, and
// neither do programs that it starts. Its scratch directory is gone afterwards.
func TestChildReachesNothingElse(t *testing.T) {
	t.Setenv("SECRET_OF_BOT", "token")
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	path, granted := input(t), input(t)
	r, err := confined.Run(t.Context(), confined.Job{Kind: "reach", Input: path, Read: []string{granted, "/no/such"},
		Options: map[string]string{"outside": input(t), "granted": granted, "server": server.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	want := "outside: false\nchange input: false\nscratch: true\ngranted: true\nnetwork: false\nprogram: false\n\"\" false"
	if r.Text != want {
		t.Errorf("%s\nwant\n%s", r.Text, want)
	}
	if _, err := os.Stat(r.Meta["scratch"]); err == nil || r.Meta["scratch"] == "" {
		t.Errorf("%q is left", r.Meta["scratch"])
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "words" {
		t.Errorf("the input has changed: %q, %v", text, err)
	}
}

// TestFaultsOfAChild: whatever happens in the child is an answer for the bot, and quotes
// nothing of the file.
func TestFaultsOfAChild(t *testing.T) {
	for kind, want := range map[string]confined.Fault{
		"hog":    {Kind: confined.GaveUp, Detail: "limit of memory"},
		"hang":   {Kind: confined.GaveUp, Detail: "it took more than 1s"},
		"flood":  {Kind: confined.TooMuch, Detail: "more than 64 MB of text"},
		"panic":  {Kind: confined.Broken, Detail: "its reader failed"},
		"index":  {Kind: confined.Broken, Detail: "its reader failed: runtime error: slice bounds out of range"},
		"deep":   {Kind: confined.GaveUp, Detail: "nested too deep"},
		"exit":   {Kind: confined.GaveUp, Detail: "its reader ended with code 3"},
		"locked": {Kind: confined.Locked, Detail: "aes"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			job := confined.Job{Kind: kind, Input: input(t)}
			if kind == "hang" {
				job.Limit = time.Second
			}
			_, err := confined.Run(t.Context(), job)
			var fault *confined.Fault
			if !errors.As(err, &fault) || fault.Kind != want.Kind || !strings.HasPrefix(fault.Detail, want.Detail) {
				t.Errorf("%v, want %v", err, &want)
			}
		})
	}
	for _, kind := range []string{"fails", "unknown"} {
		_, err := confined.Run(t.Context(), confined.Job{Kind: kind, Input: input(t)})
		var fault *confined.Fault
		if err == nil || errors.As(err, &fault) {
			t.Errorf("%s: %v, want an error that is no fault of the file", kind, err)
		}
	}
	if _, err := confined.Run(t.Context(), confined.Job{Kind: "read", Input: "relative"}); err == nil {
		t.Error("a relative path was read")
	}
}

// TestDeadlineLeavesTimeForAnAnswer: a reader that watches its context returns what it has.
func TestDeadlineLeavesTimeForAnAnswer(t *testing.T) {
	t.Parallel()
	r, err := confined.Run(t.Context(), confined.Job{Kind: "patient", Input: input(t), Limit: 12 * time.Second})
	if err != nil || r.Text != "so far" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestStoppedChildIsNoFault: who stops a reading gets the cause.
func TestStoppedChildIsNoFault(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped by a person")
	timer := time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
	defer timer.Stop()
	begun := time.Now()
	if _, err := confined.Run(ctx, confined.Job{Kind: "hang", Input: input(t)}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestKilledBotLeavesNoChild: kill -9 of the bot ends the child and what it has started.
func TestKilledBotLeavesNoChild(t *testing.T) {
	tmp := t.TempDir()
	bot := exec.Command(os.Args[0])
	bot.Env = append(os.Environ(), botInput+"="+input(t), "TMPDIR="+tmp)
	if err := bot.Start(); err != nil {
		t.Fatal(err)
	}
	defer bot.Process.Kill()
	until(t, "the program of the child runs", func() bool { return len(within(tmp)) >= 3 }) // bot, child, program
	if err := bot.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = bot.Wait()
	until(t, "nothing of it runs", func() bool { return len(within(tmp)) == 0 })
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// within are the programs that run with a directory for temporary files below this one.
func within(tmp string) (programs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		text, err := os.ReadFile(file)
		program, _ := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		guard, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && bytes.Contains(text, []byte("TMPDIR="+tmp)) && !bytes.HasPrefix(guard, []byte("klawbot-guard")) {
			programs = append(programs, program)
		}
	}
	return programs
}

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/tools"
	"klawbot/whitelist"
)

const (
	// logsPoll is how often klawbot logs -f looks for new lines.
	logsPoll = 300 * time.Millisecond
	// maxLogText is how many characters of a message are shown in a line.
	maxLogText = 500
)

type logsOptions struct {
	chat   string
	last   int
	follow bool
	json   bool
}

func logsCommand(a *app) *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the conversations as lines",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			matches, err := chatFolders(o.chat)
			if err != nil {
				return usage.Wrap(err)
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			t := &tail{dir: filepath.Join(f.Data, "conversations"), matches: matches, seen: map[string]int64{}}
			return t.show(ctx, a.stdout, l.Config().Location(), o)
		},
	}
	cmd.Flags().StringVar(&o.chat, "chat", "", "only the chat with this `id`: 123456, -100123 or telegram_123456")
	cmd.Flags().IntVarP(&o.last, "lines", "n", 20, "how many `lines` of the past; 0: none")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "follow new messages until Ctrl-C")
	cmd.Flags().BoolVar(&o.json, "json", false, "the records as they are stored, one a line")
	return cmd
}

// chatFolders returns what tells the folders of a chat: its id, and with topics
// an underscore and a number behind it. Without a chat all are.
func chatFolders(chat string) (func(folder string) bool, error) {
	if strings.TrimSpace(chat) == "" {
		return func(string) bool { return true }, nil
	}
	channel, id, err := whitelist.ParseID(chat)
	if err != nil {
		return nil, err
	}
	name := regexp.QuoteMeta(whitelist.FormatID(cmp.Or(channel, "telegram"), id))
	return regexp.MustCompile("^" + name + `(_\d+)?$`).MatchString, nil
}

// logLine is a record of a conversation log, as far as it is shown.
type logLine struct {
	TS      time.Time `json:"ts"`
	Role    string    `json:"role"`
	Content string    `json:"content"`
	Type    string    `json:"type"`
	Meta    struct {
		ChatID     string `json:"chat_id"`
		Thread     int64  `json:"thread"`
		SenderName string `json:"sender_name"`
		Tool       string `json:"tool"`
		Model      string `json:"model"`
	} `json:"meta"`
	raw string
}

// tail reads the conversation logs from where it stopped the last time.
type tail struct {
	dir     string
	matches func(folder string) bool
	seen    map[string]int64 // file → bytes that were read
}

func (t *tail) show(ctx context.Context, w io.Writer, zone *time.Location, o logsOptions) error {
	lines, err := t.start(o.last)
	if err != nil {
		return err
	}
	if len(lines) == 0 && o.last > 0 && !o.follow && !o.json {
		_, err := fmt.Fprintln(w, "No messages yet.")
		return err
	}
	tick := time.NewTicker(logsPoll)
	defer tick.Stop()
	for {
		for _, l := range lines {
			text := l.raw
			if !o.json {
				text = terminal.Fold(w, l.text(zone), 4)
			}
			if _, err := fmt.Fprintln(w, text); err != nil {
				return err
			}
		}
		if !o.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if lines, err = t.read(); err != nil {
			return err
		}
	}
}

// start returns the last lines of the past and steps over the older ones. It
// reads the newest day first and no more days than it needs.
func (t *tail) start(n int) ([]logLine, error) {
	files, err := t.files()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(filepath.Base(b), filepath.Base(a)) })
	var lines []logLine
	day := ""
	for _, file := range files {
		if base := filepath.Base(file); base != day && len(lines) >= n {
			if info, err := os.Stat(file); err == nil {
				t.seen[file] = info.Size()
			}
			continue
		}
		day = filepath.Base(file)
		if err := t.readFile(file, &lines); err != nil {
			return nil, err
		}
	}
	sortLines(lines)
	return lines[max(0, len(lines)-max(n, 0)):], nil
}

// read returns what was added since the last time, in the order of time. Days
// and chats begin new files, so it looks for them again each time.
func (t *tail) read() ([]logLine, error) {
	files, err := t.files()
	if err != nil {
		return nil, err
	}
	var lines []logLine
	for _, file := range files {
		if err := t.readFile(file, &lines); err != nil {
			return nil, err
		}
	}
	sortLines(lines)
	return lines, nil
}

func sortLines(lines []logLine) {
	slices.SortStableFunc(lines, func(a, b logLine) int { return a.TS.Compare(b.TS) })
}

// files are the logs of the chats that are shown.
func (t *tail) files() ([]string, error) {
	chats, err := os.ReadDir(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, chat := range chats {
		if !t.matches(chat.Name()) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(t.dir, chat.Name(), "*.jsonl"))
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// readFile reads whole lines; the bot may be writing the last one.
func (t *tail) readFile(name string, lines *[]logLine) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	if info, err := f.Stat(); err == nil && info.Size() <= t.seen[name] {
		t.seen[name] = info.Size() // the bot cuts off a torn line
		return nil
	}
	if _, err := f.Seek(t.seen[name], io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(f)
	for {
		raw, err := in.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		t.seen[name] += int64(len(raw))
		l := logLine{raw: strings.TrimRight(raw, "\n")}
		if json.Unmarshal([]byte(raw), &l) == nil {
			*lines = append(*lines, l)
		}
	}
}

func (l logLine) text(zone *time.Location) string {
	chat := l.Meta.ChatID
	if l.Meta.Thread != 0 {
		chat += fmt.Sprintf("_%d", l.Meta.Thread)
	}
	who := cmp.Or(l.Meta.SenderName, l.Role)
	switch l.Type {
	case "tool_call":
		who = "→ tool"
	case "tool_result":
		who, l.Content = "← "+cmp.Or(l.Meta.Tool, "tool"), tools.Bare(l.Content)
	case "session_break":
		who, l.Content = "—", "new conversation"
	case "error":
		who = "error"
	}
	return fmt.Sprintf("%s %s %s: %s", l.TS.In(zone).Format("2006-01-02 15:04:05"), chat, printable(who), printable(l.Content))
}

// printable is text in one line, short and without what could play with the
// terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, terminal.Clip(strings.Join(strings.Fields(text), " "), maxLogText))
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/internal/advice"
	"klawbot/tools/recall"
)

func memoryCommand(a *app) *cobra.Command {
	cmd := parent("memory", "Search, save and delete memories",
		memorySearchCommand(a), memoryListCommand(a), memorySaveCommand(a), memoryForgetCommand(a), memoryShowCommand(a),
		memoryEditCommand(a), memoryImportCommand(a), memoryUndoCommand(a))
	cmd.Long = "What is saved here every chat may find. All of it works while the bot runs and without one."
	return cmd
}

type searchFlags struct {
	query        data.MemoryQuery
	since, until string
	batch        string
	json         bool
	zone         *time.Location // of the times that are shown
}

func memorySearchCommand(a *app) *cobra.Command {
	var s searchFlags
	cmd := &cobra.Command{
		Use:   "search [QUERY | --batch QUERIES.jsonl]",
		Short: "Search memories",
		Long: `Finds memories and memory files of all chats. A file of queries has one object a line,
{"query": "..."}; the answers come in its order.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (s.batch == "") {
				return usage.Errorf("give a query, or --batch with a file of queries: klawbot memory search QUERY")
			}
			if err := s.check(); err != nil {
				return err
			}
			return a.withWorkspace(cmd.Context(), func(l *config.Live, _ config.Folders, d *data.Data) error {
				if err := s.days(l.Config().Location()); err != nil {
					return err
				}
				queries := []string{strings.Join(args, " ")}
				if s.batch != "" {
					var err error
					if queries, err = a.readQueries(s.batch); err != nil {
						return err
					}
				}
				return searchMemory(cmd.Context(), a, d, s, queries)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&s.json, "json", false, "print JSON")
	flags.IntVar(&s.query.TopK, "top", 0, "maximum `K` results per query (default: memory.search.topK)")
	flags.StringVar(&s.query.Mode, "mode", "hybrid", "search `mode`: hybrid, keyword or vector")
	flags.StringVar(&s.batch, "batch", "", "`file` of queries, - for standard input")
	flags.StringVar(&s.query.Source, "source", "", "only what comes from this `source`")
	flags.StringVar(&s.query.Chat, "chat", "", "only what the chat with this `id` finds, such as telegram_123456")
	flags.StringVar(&s.since, "since", "", "only from this `day` on, such as 2026-01-31")
	flags.StringVar(&s.until, "until", "", "only before this `day`")
	flags.BoolVar(&s.query.Messages, "messages", false, "search message history instead of memories")
	return cmd
}

// check says what is wrong with the flags, but for the days.
func (s *searchFlags) check() error {
	switch s.query.Mode {
	case "hybrid", "keyword", "vector":
	default:
		return usage.Errorf("--mode is hybrid, keyword or vector, not %q", s.query.Mode)
	}
	if s.query.TopK < 0 || s.query.TopK > 1000 {
		return usage.Errorf("--top is 1 to 1000")
	}
	return nil
}

// days reads the flags for days, which begin at midnight in the zone of the bot.
func (s *searchFlags) days(zone *time.Location) (err error) {
	s.zone = zone
	for _, t := range []struct {
		text string
		into *time.Time
	}{{s.since, &s.query.Since}, {s.until, &s.query.Until}} {
		if t.text == "" {
			continue
		}
		if *t.into, err = time.ParseInLocation(time.DateOnly, t.text, zone); err != nil {
			return usage.Errorf("invalid date %q; use YYYY-MM-DD, e.g. 2026-01-31", t.text)
		}
	}
	return nil
}

type found struct {
	Query string       `json:"query"`
	Hits  []recall.Hit `json:"hits"`
}

func searchMemory(ctx context.Context, a *app, d *data.Data, s searchFlags, queries []string) error {
	all := make([]found, len(queries))
	for i, text := range queries {
		s.query.Text = text
		hits, err := d.SearchMemory(ctx, s.query)
		if err != nil {
			return err
		}
		if all[i] = (found{text, hits}); hits == nil {
			all[i].Hits = []recall.Hit{}
		}
	}
	if s.json {
		return printJSON(a.stdout, all)
	}
	for _, f := range all {
		if s.batch != "" {
			fmt.Fprintf(a.stdout, "? %s\n", terminal.Visible(f.Query))
		}
		if len(f.Hits) == 0 {
			fmt.Fprintln(a.stdout, "No relevant memories found.")
		}
		for _, h := range f.Hits {
			fmt.Fprintf(a.stdout, "%d [%s] (%s)\n", h.ID, terminal.Visible(h.Source), h.At.In(s.zone).Format("2006-01-02 15:04"))
			printContent(a.stdout, h.Content)
		}
	}
	return nil
}

// printContent prints the text of a memory below its line.
func printContent(w io.Writer, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintln(w, "    "+terminal.Visible(strings.TrimSuffix(line, "\n")))
	}
}

func memoryListCommand(a *app) *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List the memories of all chats, the newest first", Args: cobra.NoArgs,
		Long: "Each line has the id, the source, the time, who had it stored (person, model, import, or tool: the model had\n" +
			"read something from outside), the chat where it is not for all, and the key where it has one.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return usage.Errorf("invalid value for --top: \"%d\"; see %s --help", limit, cmd.CommandPath())
			}
			return a.withWorkspace(cmd.Context(), func(l *config.Live, _ config.Folders, d *data.Data) error {
				list, err := d.ListMemories(cmd.Context(), limit)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, append([]data.KeptMemory{}, list...))
				}
				for _, m := range list {
					about := strings.Join(slices.DeleteFunc([]string{m.Provenance, m.Chat, m.Key}, func(s string) bool { return s == "" }), " ")
					fmt.Fprintf(a.stdout, "%d [%s] (%s) %s\n", m.ID, terminal.Visible(m.Source), m.CreatedAt.In(l.Config().Location()).Format("2006-01-02 15:04"), terminal.Visible(about))
					printContent(a.stdout, m.Content)
				}
				if len(list) == 0 {
					fmt.Fprintln(a.stdout, "Nothing is remembered yet.")
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&limit, "top", 20, "at most `K`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) readQueries(name string) ([]string, error) {
	in, closeFile, err := a.input(name)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	var queries []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQueryLine)
	n := 1
	for ; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" {
			continue
		}
		var q struct{ Query *string }
		if err := json.Unmarshal([]byte(text), &q); err != nil || q.Query == nil {
			return nil, fmt.Errorf(`%s, line %d: no object such as {"query": "..."}`, name, n)
		}
		queries = append(queries, *q.Query)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s, line %d: longer than %d bytes", name, n, maxQueryLine)
	}
	return queries, lines.Err()
}

// maxQueryLine bounds a line of a file of queries.
const maxQueryLine = 1 << 20

// input is a file, or standard input for "-".
func (a *app) input(name string) (in io.Reader, closeFile func(), err error) {
	if name == "-" {
		return a.stdin, func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, config.Reason(err))
	}
	return f, func() { _ = f.Close() }, nil // it was only read
}

func memorySaveCommand(a *app) *cobra.Command {
	e := recall.Entry{Source: "manual", Category: "core"}
	cmd := &cobra.Command{
		Use: "save TEXT", Short: "Save a memory for all chats", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e.Content = args[0]
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, f config.Folders, d *data.Data) error {
				n, err := d.SaveMemory(cmd.Context(), e)
				if err != nil {
					return err
				}
				if n == 0 {
					return usage.Errorf("there is no text to save")
				}
				fmt.Fprintf(a.stdout, "Saved %d chunk(s) from source '%s'.\n", n, e.Source)
				return a.embedAlone(cmd.Context(), d, f)
			})
		},
	}
	cmd.Flags().StringVar(&e.Key, "key", "", "`name` of the memory; a later one of the same name replaces it")
	cmd.Flags().StringVar(&e.Source, "source", e.Source, "where it comes from, in one `word`")
	return cmd
}

// embedAlone gives what is new its vectors where no bot runs that does it.
func (a *app) embedAlone(ctx context.Context, d *data.Data, f config.Folders) error {
	_, err := bot.AskStatus(ctx, f.Data)
	if !errors.Is(err, bot.ErrNotRunning) {
		return nil
	}
	shown := terminal.NewCounter(a.stdout, "indexed for semantic search")
	err = d.EmbedMemory(ctx, shown.Show)
	shown.End()
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.stderr, "klawbot: %v; it is found by its words\n", err)
		return nil
	}
	return err
}

func memoryForgetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "forget KEY|ID", Short: "Delete a memory", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, _ config.Folders, d *data.Data) error {
				err := d.ForgetMemory(cmd.Context(), args[0], 0)
				if id, bad := strconv.ParseInt(args[0], 10, 64); bad == nil && errors.Is(err, recall.ErrNotFound) {
					err = d.ForgetMemory(cmd.Context(), "", id)
				}
				if errors.Is(err, recall.ErrNotFound) {
					return fmt.Errorf("memory '%s' not found; klawbot memory search shows the ids", args[0])
				}
				if err == nil {
					_, err = fmt.Fprintf(a.stdout, advice.Text("memory '%s' forgotten; klawbot memory undo takes it back\n"), args[0])
				}
				return err
			})
		},
	}
}

func memoryShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the core memory, which is in every prompt", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, _ config.Folders, d *data.Data) error {
				text, file, err := d.CoreMemory()
				if err != nil {
					return err
				}
				if text == "" {
					text = "Core memory is empty: " + file
				}
				_, err = fmt.Fprintln(a.stdout, terminal.Visible(text))
				return err
			})
		},
	}
}

func memoryEditCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open the core memory in $EDITOR", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, _ config.Folders, d *data.Data) error {
				file, err := d.CoreMemoryFile()
				if err != nil {
					return err
				}
				editor := strings.Fields(a.getenv("EDITOR"))
				if len(editor) == 0 {
					return fmt.Errorf("$EDITOR is not set; edit %s with any editor, it is read with every use", file)
				}
				run := exec.CommandContext(cmd.Context(), editor[0], append(editor[1:], file)...)
				run.Stdin, run.Stdout, run.Stderr = a.stdin, terminal.Unwrap(a.stdout), terminal.Unwrap(a.stderr)
				if err := run.Run(); err != nil {
					return fmt.Errorf("%s: %w", editor[0], err)
				}
				_, _, err = d.CoreMemory()
				return err
			})
		},
	}
}

func memoryImportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE.jsonl",
		Short: "Save the lines of a file as memories for all chats",
		Long: `Each line is an object: content, and perhaps source, created_at (2026-01-31 or 2026-01-31T12:00:00Z),
key and category. Lines of one source that follow each other are taken as one conversation or document.
"-" reads standard input.`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, f config.Folders, d *data.Data) error {
				in, closeFile, err := a.input(args[0])
				if err != nil {
					return err
				}
				defer closeFile()
				return importMemories(cmd.Context(), a, d, f, in)
			})
		},
	}
}

func importMemories(ctx context.Context, a *app, d *data.Data, f config.Folders, in io.Reader) error {
	shown := terminal.NewCounter(a.stdout, "imported")
	done, err := d.ImportMemories(ctx, in, shown.Show)
	shown.End()
	if err != nil {
		return err
	}
	if done.Known > 0 {
		fmt.Fprintf(a.stdout, "%d were there already\n", done.Known)
	}
	if err := a.embedAlone(ctx, d, f); err != nil {
		return err
	}
	if len(done.Faults) == 0 {
		return nil
	}
	more := ""
	if done.More > 0 {
		more = fmt.Sprintf("; and %d more", done.More)
	}
	return fmt.Errorf("lines left out: %d (%s%s)", len(done.Faults)+done.More, strings.Join(done.Faults, "; "), more)
}

func memoryUndoCommand(a *app) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use: "undo [ID | core | --list]", Short: "Undo the newest memory change, or the one with an ID", Args: takes(0, 1),
		Long: "Restores deleted or replaced memories, and deletes saved ones. Changes are kept for 30 days.\n" +
			"With core the core memory becomes what it was before its last change; a second time brings the change back.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var id int64
			core := len(args) > 0 && args[0] == "core"
			if len(args) > 0 && !core {
				var err error
				if id, err = strconv.ParseInt(args[0], 10, 64); err != nil || id < 1 {
					return usage.Errorf("undo takes the id of one change, core, or --list")
				}
			}
			if list && len(args) > 0 {
				return usage.Errorf("undo takes the id of one change, core, or --list")
			}
			if list {
				return a.withData(cmd.Context(), func(l *config.Live, _ config.Folders, d *data.Data) error {
					return listMemoryChanges(cmd.Context(), a.stdout, d, l.Config().Location())
				})
			}
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, f config.Folders, d *data.Data) error {
				if core {
					return undoCore(a.stdout, d)
				}
				c, err := d.UndoMemory(cmd.Context(), id)
				if errors.Is(err, recall.ErrNotFound) {
					return errors.New("there is no such change to undo; klawbot memory undo --list shows what there is")
				}
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, undoneText(c))
				return a.embedAlone(cmd.Context(), d, f)
			})
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "show the changes, the newest first")
	return cmd
}

// undoCore takes back the last change of the core memory and shows what it is now.
func undoCore(w io.Writer, d *data.Data) error {
	facts, err := d.UndoCore()
	if err != nil {
		return err
	}
	if facts == "" {
		facts = "it is empty now"
	}
	_, err = fmt.Fprintf(w, "The core memory is what it was before its last change:\n%s\n", terminal.Visible(facts))
	return err
}

func undoneText(c data.MemoryChange) string {
	if c.Before == "" {
		return fmt.Sprintf("Undone %d: what was saved is forgotten.", c.ID)
	}
	return fmt.Sprintf("Undone %d: remembered again: %s", c.ID, terminal.Visible(terminal.Clip(firstLine(c.Before), 80)))
}

func listMemoryChanges(ctx context.Context, w io.Writer, d *data.Data, zone *time.Location) error {
	all, err := d.MemoryChanges(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		what := "saved"
		switch {
		case c.Saved && c.Before != "":
			what = "replaced: " + terminal.Visible(terminal.Clip(firstLine(c.Before), 80))
		case c.Before != "":
			what = "forgotten: " + terminal.Visible(terminal.Clip(firstLine(c.Before), 80))
		}
		if c.Undone {
			what += " (undone)"
		}
		fmt.Fprintf(w, "%d  %s  %s\n", c.ID, c.At.In(zone).Format("2006-01-02 15:04"), what)
	}
	return nil
}

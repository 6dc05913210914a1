package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/internal/advice"
	"klawbot/internal/clip"
	"klawbot/tools"
	"klawbot/tools/job"
)

func scheduleCommand(a *app) *cobra.Command {
	cmd := parent("schedule", "Manage schedules and run history",
		scheduleListCommand(a), scheduleAddCommand(a), scheduleRemoveCommand(a), scheduleRunCommand(a), scheduleLogsCommand(a))
	cmd.Long = "Schedules and reminders of all chats. A running bot notices a change within a second; of a stopped one it is kept for the next start."
	return cmd
}

// withSchedules runs fn with what is planned, as the owner at the command line.
func (a *app) withSchedules(ctx context.Context, fn func(job.Schedules, *config.Config) error) error {
	return a.withWorkspace(ctx, func(l *config.Live, f config.Folders, d *data.Data) error {
		return fn(d.Schedules(), l.Config())
	})
}

func scheduleListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List what is scheduled", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withSchedules(cmd.Context(), func(s job.Schedules, _ *config.Config) error {
				list, err := s.List(cmd.Context(), tools.Call{})
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, list)
				}
				return printSchedules(a.stdout, list)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printSchedules(out io.Writer, list []job.Schedule) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No scheduled tasks.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tWHEN\tNEXT\tLAST\tTO\tCOST\tMESSAGE")
	for _, s := range list {
		next, last := "-", "-"
		if len(s.Next) > 0 {
			next = inZone(s.Next[0], s.TZ)
		}
		if !s.Prev.IsZero() {
			last = inZone(s.Prev, s.TZ) + " " + s.PrevState
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t$%.4f\t%s\n", terminal.Visible(s.Name), s.State, s.When, next, last, cmp.Or(s.InjectInto, "-"), s.CostUSD, clip.Line(s.Message, 40))
	}
	return w.Flush()
}

func inZone(t time.Time, name string) string {
	if zone, err := time.LoadLocation(name); err == nil {
		t = t.In(zone)
	}
	if t.Second() != 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

func scheduleAddCommand(a *app) *cobra.Command {
	var n job.New
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add NAME CRON MESSAGE | add NAME --at TIME MESSAGE",
		Short: "Schedule a task",
		Long: `Schedules a task for the model. CRON has five fields as in Unix (minute hour day month
weekday), six or seven as in Quartz (seconds first), or is @hourly, @daily, @weekly, @monthly
or @yearly. It may also be words, such as "every 2 weeks on Monday at 9", or a recurrence
rule, RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9. TIME is an ISO time, "in 20m" or
"tomorrow at 9". A MESSAGE that begins with /tool NAME JSON calls that tool and needs no
model.`,
		Example: `  klawbot schedule add report "0 9 * * 1-5" "Summarize notes.md" --inject-into telegram_123456
  klawbot schedule add bins "every 2 weeks on Monday at 19" "The bins" --inject-into telegram_123456
  klawbot schedule add backup "@daily" '/tool shell {"command": "ls -l backups"}'`,
		Args: takes(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.Name, n.Message = args[0], args[len(args)-1]
			if (n.At == "") != (len(args) == 3) {
				return usage.Errorf("give a cron expression or --at TIME, and a message: klawbot schedule add NAME CRON MESSAGE")
			}
			if n.At == "" {
				n.Cron = args[1]
			}
			return a.withSchedules(cmd.Context(), func(s job.Schedules, _ *config.Config) error {
				one, err := s.Add(cmd.Context(), tools.Call{}, n)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, one)
				}
				return printSchedule(a.stdout, one)
			})
		},
	}
	cmd.Flags().StringVar(&n.At, "at", "", "run once, at this `time`, instead of CRON")
	cmd.Flags().StringVar(&n.Model, "model", "", "the configured `model` that runs it (default: models.default)")
	cmd.Flags().StringVar(&n.InjectInto, "inject-into", "", "the `chat` that gets the result, such as telegram_123456 (default: only the log)")
	cmd.Flags().StringVar(&n.TZ, "tz", "", "the time `zone` of CRON and TIME (default: agent.timezone)")
	cmd.Flags().StringVar(&n.Misfire, "misfire", "", "`policy` for missed runs: run_once (default) or skip")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printSchedule(w io.Writer, s job.Schedule) error {
	next := make([]string, len(s.Next))
	for i, t := range s.Next {
		next[i] = inZone(t, s.TZ)
	}
	_, err := fmt.Fprintf(w, "%s is scheduled: %s (%s)\nNext: %s\n", terminal.Visible(s.Name), s.When, s.TZ, strings.Join(next, "; "))
	if err == nil && s.InjectInto == "" {
		_, err = fmt.Fprintln(w, "The results are only logged; --inject-into CHAT sends them.")
	}
	return err
}

func scheduleRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a schedule", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSchedules(cmd.Context(), func(s job.Schedules, _ *config.Config) error {
				if err := s.Remove(cmd.Context(), tools.Call{}, args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(a.stdout, "%s is removed.\n", terminal.Visible(args[0]))
				return err
			})
		},
	}
}

func scheduleRunCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "run NAME", Short: "Run a schedule now, or at the next start of a stopped bot", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSchedules(cmd.Context(), func(s job.Schedules, _ *config.Config) error {
				if err := s.Run(cmd.Context(), tools.Call{}, args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(a.stdout, advice.Text("%s runs now, or as soon as the bot is started. klawbot schedule logs %s shows how it went.\n"), terminal.Visible(args[0]), terminal.Visible(args[0]))
				return err
			})
		},
	}
}

func scheduleLogsCommand(a *app) *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use: "logs NAME", Short: "Show the latest runs of a schedule", Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usage.Errorf("--limit must be 1 or more")
			}
			return a.withSchedules(cmd.Context(), func(s job.Schedules, c *config.Config) error {
				runs, err := s.Logs(cmd.Context(), tools.Call{}, args[0], limit)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(a.stdout, runs)
				}
				return printRuns(a.stdout, runs, c.Location())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many `runs`")
	return cmd
}

func printRuns(out io.Writer, runs []job.Run, zone *time.Location) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintln(out, "It has not run yet.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DUE\tSTATE\tTOOK\tTOKENS\tCOST\tTO\tNOTE")
	for _, r := range runs {
		took := "-"
		if !r.StartedAt.IsZero() && !r.EndedAt.IsZero() {
			took = r.EndedAt.Sub(r.StartedAt).Round(100 * time.Millisecond).String()
		}
		state := r.State
		if r.Missed > 1 {
			state += fmt.Sprintf(" ×%d", r.Missed)
		}
		if r.Cause != "" && r.Cause != "due" {
			state += ", " + r.Cause
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t$%.4f\t%s\t%s\n", inZone(r.ScheduledAt, zone.String()), state, took, r.InputTokens+r.OutputTokens, r.CostUSD,
			cmp.Or(strings.TrimSpace(r.Delivered+" "+r.Delivery), "-"), terminal.Visible(cmp.Or(r.Note, firstLine(r.Result))))
	}
	return w.Flush()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

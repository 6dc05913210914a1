package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine"
	"klawbot/engine/health"
	"klawbot/whitelist"
)

func allowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "allow ID...",
		Short: "Add chats to the allow list",
		Long: "Adds chat IDs to channels.telegram.allowedChatIds in config.yaml. A running bot applies the change within a second.\n" +
			"In a private chat, the ID is the user's. Group IDs are negative: klawbot allow -1001234567890",
		Args: someIDs,
		RunE: func(_ *cobra.Command, args []string) error { return editAllowed(a, args, nil) },
	}
}

func someIDs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("name at least one chat: klawbot %s 123456; %s", cmd.Name(), config.FindID)
	}
	return nil
}

func denyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "deny ID...",
		Short: "Remove chats from the allow list",
		Args:  someIDs,
		RunE:  func(_ *cobra.Command, args []string) error { return editAllowed(a, nil, args) },
	}
}

func allowedCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "allowed",
		Short: "List allowed chats",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, f, err := a.openFolders()
			if err != nil {
				return err
			}
			c := l.Config()
			if err := a.printAllowed(c.Channels.Telegram.AllowedChatIDs); err != nil {
				return err
			}
			s, err := health.StatusOf(cmd.Context(), engine.Base{Dir: f.Data, Version: version})
			if err != nil { // no bot has run yet
				return nil
			}
			return printKnocked(a.stdout, s.Knocked, c)
		},
	}
}

func (a *app) printAllowed(ids []int64) error {
	if len(ids) == 0 {
		_, err := fmt.Fprintln(a.stdout, a.advice("No chats allowed. Add one: klawbot allow ID"))
		return err
	}
	for _, id := range ids {
		if _, err := fmt.Fprintln(a.stdout, whitelist.FormatID("telegram", id)); err != nil {
			return err
		}
	}
	return nil
}

// printKnocked lists the chats that wrote and are not allowed.
func printKnocked(out io.Writer, list []health.Stranger, c *config.Config) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nUnknown senders:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\tlast %s\n", k.Chat, terminal.OneLine(k.Name), terminal.Plural(k.Times, "message", "messages"), clock(k.LastAt, c.Location()))
	}
	return w.Flush()
}

// remark says what became of the ids that were removed, and what may surprise.
func remark(a *app, t config.Telegram, removed []int64) {
	for _, id := range removed {
		name := whitelist.FormatID("telegram", id)
		switch {
		case !slices.Contains(t.AllowedChatIDs, id):
			fmt.Fprintf(a.stderr, "%s was not on the list\n", name)
		case slices.Contains(t.OwnerIDs, id):
			fmt.Fprintln(a.stderr, a.advice(fmt.Sprintf("%s is an owner (channels.telegram.ownerIds), but is no longer allowed. Add it again: klawbot allow %d", name, id)))
		default:
			fmt.Fprintln(a.stdout, a.advice(fmt.Sprintf("Not allowed: %s. Undo: klawbot allow %d", name, id)))
		}
	}
}

func editAllowed(a *app, add, remove []string) error {
	added, err := config.ParseIDs(add)
	if err != nil {
		return usage.Wrap(err)
	}
	removed, err := config.ParseIDs(remove)
	if err != nil {
		return usage.Wrap(err)
	}
	l, err := a.open()
	if err != nil {
		return err
	}
	before, err := configedit.Allowed(l, added, removed)
	if err != nil {
		return err
	}
	remark(a, before.Channels.Telegram, removed)
	for _, id := range added {
		fmt.Fprintln(a.stdout, a.advice(fmt.Sprintf("Allowed: %s. Undo: klawbot deny %d", whitelist.FormatID("telegram", id), id)))
	}
	if len(added) > 0 && before.Channels.Telegram.Token == "" {
		fmt.Fprintln(a.stdout, a.advice("Telegram is not set up yet. Set it up: klawbot telegram"))
	}
	fmt.Fprintln(a.stdout, "\nAllowed chats:")
	list := slices.Concat(before.Channels.Telegram.AllowedChatIDs, added)
	list = slices.DeleteFunc(list, func(id int64) bool { return slices.Contains(removed, id) })
	return a.printAllowed(config.Unique(list))
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/configedit"
	"klawbot/cmd/klawbot/internal/terminal"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/engine/data"
	"klawbot/engine/health"
	"klawbot/internal/advice"
	"klawbot/tools/mcp"
)

func mcpCommand(a *app) *cobra.Command {
	return parent("mcp", "Manage MCP servers",
		mcpListCommand(a), mcpAddCommand(a), mcpRemoveCommand(a), mcpApproveCommand(a))
}

// probeTime is how long mcp list waits for a server.
const probeTime = 20 * time.Second

// slowServer is how long one waits for a server before one hears why.
const slowServer = 2 * time.Second

func mcpListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Connect to the servers and list their tools",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.withData(ctx, func(_ *config.Live, _ config.Folders, d *data.Data) error {
				ctx, cancel := context.WithTimeout(ctx, probeTime)
				defer cancel()
				slow := time.AfterFunc(slowServer, func() {
					fmt.Fprintf(a.stderr, "Waiting for servers that do not answer, %s at most.\n", probeTime)
				})
				all := d.MCP().Probe(ctx)
				slow.Stop()
				if asJSON {
					return printJSON(a.stdout, struct {
						Servers []mcp.Status `json:"servers"`
					}{append([]mcp.Status{}, all...)})
				}
				return a.printServers(all)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printServers(all []mcp.Status) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.stdout, advice.Text("no servers; klawbot mcp add NAME -- COMMAND or klawbot mcp add NAME --url URL sets one up"))
		return err
	}
	var b strings.Builder
	for _, s := range all {
		finding := health.ServerFinding(s)
		fmt.Fprintf(&b, "%s: %s\n", s.Name, finding.Text)
		for _, t := range s.Tools {
			name := t.Name
			if name == "" {
				name = "(" + t.Tool + ")"
			}
			if t.ReadOnly {
				name += ", read-only"
			}
			about, _, _ := strings.Cut(t.Description, "\n")
			fmt.Fprintf(&b, "  %-8s %s: %s\n", t.Standing, name, about)
		}
	}
	_, err := fmt.Fprint(a.stdout, a.redact.Text(terminal.Visible(b.String())))
	return err
}

type newServer struct {
	url, version string
	headers, env []string
	readOnly     []string
	timeout      int
	noCheck      bool
	// client is how the bot is registered at the authorization server.
	client struct{ id, secret, issuer, grant string }
}

func mcpAddCommand(a *app) *cobra.Command {
	var n newServer
	cmd := &cobra.Command{
		Use:   "add NAME [--url URL | -- COMMAND ARG...]",
		Short: "Add a server to config.yaml",
		Long: "Writes a server into tools.mcp of config.yaml. A running bot connects to it within a second; its tools work after klawbot mcp approve NAME.\n" +
			"Values may hold ${NAME}, which is replaced from the environment of the bot: --env 'GITHUB_TOKEN=${GITHUB_TOKEN}'",
		Args: takes(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return addServer(cmd.Context(), a, args[0], args[1:], n)
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.url, "url", "", "the `address` of a server over HTTP")
	f.StringArrayVar(&n.headers, "header", nil, "a `NAME=VALUE` for each request; may be repeated")
	f.StringArrayVar(&n.env, "env", nil, "a `NAME=VALUE` for the command's environment, which is nearly empty; may be repeated")
	f.StringArrayVar(&n.readOnly, "read-only", nil, "a `tool` that changes nothing and so need not ask; may be repeated")
	f.StringVar(&n.client.id, "client-id", "", "the `id` of a client that was registered by hand, for OAuth")
	f.StringVar(&n.client.secret, "client-secret", "", "its `secret`, best as '${NAME}'")
	f.StringVar(&n.client.issuer, "issuer", "", "the `address` of the authorization server that alone may see the secret")
	f.StringVar(&n.client.grant, "grant-type", "", "`how` the bot signs in: "+config.GrantPerson+" (a person does it once) or "+config.GrantMachine)
	f.StringVar(&n.version, "protocol-version", "", "the `version` of the protocol to begin with")
	f.BoolVar(&n.noCheck, "no-check", false, "write it although the command's program is not here")
	f.IntVar(&n.timeout, "timeout", 0, "how many `seconds` a call may take")
	return cmd
}

// section is the server as it is written in config.yaml. JSON is YAML in braces.
func (n newServer) section(command []string) (string, error) {
	s := struct {
		Args            []string          `json:"args,omitempty"`
		ClientID        string            `json:"clientId,omitempty"`
		ClientSecret    string            `json:"clientSecret,omitempty"`
		Command         string            `json:"command,omitempty"`
		Env             map[string]string `json:"env,omitempty"`
		GrantType       string            `json:"grantType,omitempty"`
		Headers         map[string]string `json:"headers,omitempty"`
		Issuer          string            `json:"issuer,omitempty"`
		ProtocolVersion string            `json:"protocolVersion,omitempty"`
		ReadOnly        []string          `json:"readOnly,omitempty"`
		TimeoutSeconds  int               `json:"timeoutSeconds,omitempty"`
		URL             string            `json:"url,omitempty"`
	}{
		ClientID: n.client.id, ClientSecret: n.client.secret, GrantType: n.client.grant, Issuer: n.client.issuer,
		ProtocolVersion: n.version, ReadOnly: n.readOnly, TimeoutSeconds: n.timeout, URL: n.url,
	}
	if len(command) > 0 {
		s.Command, s.Args = command[0], command[1:]
	}
	var err error
	if s.Headers, err = pairs("--header", n.headers); err != nil {
		return "", err
	}
	if s.Env, err = pairs("--env", n.env); err != nil {
		return "", err
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(s)
	return strings.ReplaceAll(strings.TrimSpace(b.String()), `":`, `": `), err
}

// pairs reads the values of a flag that takes NAME=VALUE.
func pairs(flag string, given []string) (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range given {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usage.Errorf("%s takes NAME=VALUE", flag) // what was given may be a secret
		}
		values[name] = value
	}
	return values, nil
}

// variables are those of the command's environment. A PATH of its own says that the
// program is looked for elsewhere.
func (n newServer) variables() map[string]string {
	all, err := pairs("--env", n.env)
	if err != nil { // told before
		return nil
	}
	return all
}

func addServer(ctx context.Context, a *app, name string, command []string, n newServer) error {
	if !config.ValidServerName(name) {
		return usage.Errorf("a name is made of 1 to 32 of A-Z a-z 0-9 _ -, got %q", name)
	}
	section, err := n.section(command)
	if err != nil {
		return err
	}
	l, err := a.open()
	if err != nil {
		return err
	}
	if err := (mcp.Server{Command: strings.Join(command[:min(len(command), 1)], ""), Env: n.variables()}).Missing(); err != nil && !n.noCheck {
		return fmt.Errorf("%w; nothing was written (--no-check writes it anyway)", err)
	}
	if err := configedit.AddServer(l.Source, name, section); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.stdout, "%s is set up.\n", name); err != nil || !a.interactive() {
		return err
	}
	return approveServer(ctx, a, name, nil, false, false)
}

func mcpRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a server and its approvals",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			l, err := a.open()
			if err != nil {
				return err
			}
			if err := configedit.RemoveServer(l.Source, name); err != nil {
				return err
			}
			return a.withWorkspace(cmd.Context(), func(_ *config.Live, f config.Folders, d *data.Data) error {
				if err := d.Found(cmd.Context()); err != nil {
					return err
				}
				if err := d.MCP().Forget(cmd.Context(), name); err != nil {
					return err
				}
				_, err := fmt.Fprintf(a.stdout, "%s is gone.\n", name)
				return err
			})
		},
	}
}

func mcpApproveCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "approve NAME [TOOL...]",
		Short: "Approve the tools of a server as they are now",
		Long: "Connects to the server, shows the tools that are new or have changed, and lets the bot use them when you agree.\n" +
			"What is accepted is the name, the description and the schema: a tool that changes later is off until you accept it again.",
		Args: takes(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return approveServer(cmd.Context(), a, args[0], args[1:], yes, asJSON)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without asking")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; needs --yes")
	return cmd
}

// acceptedTool is a tool as mcp approve --json prints it.
type acceptedTool struct {
	Name string `json:"name"`
	Tool string `json:"tool"`
	Hash string `json:"hash"`
}

// approveServer accepts tools of a server, all that wait or the named ones.
func approveServer(ctx context.Context, a *app, name string, only []string, yes, asJSON bool) error {
	if asJSON && !yes {
		return usage.Errorf("--json needs --yes")
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	ask := terminal.Ask(a.stdin, a.stdout)
	at, done := signIn(a.stdout, ask)
	defer done()
	if !a.interactive() {
		at = mcp.SignIn{}
	}
	return a.withDataAs(ctx, at, func(_ *config.Live, f config.Folders, d *data.Data) error {
		if err := bot.Furnish(f); err != nil {
			return err
		}
		if err := d.Found(ctx); err != nil {
			return err
		}
		slow := time.AfterFunc(slowServer, func() { fmt.Fprintf(a.stderr, "Waiting for %s to answer. Ctrl-C ends it.\n", name) })
		err := d.MCP().Connect(ctx, name)
		slow.Stop()
		if err != nil {
			return err
		}
		waiting, err := chosen(d.MCP().Waiting(name), only)
		if err != nil {
			return err
		}
		if !asJSON {
			a.printWaiting(name, waiting)
		}
		if len(waiting) > 0 && !yes {
			switch ok, err := agrees(ctx, a, ask, len(waiting)); {
			case err != nil:
				return err
			case !ok:
				return errSilent
			}
		}
		accepted, err := d.MCP().Accept(ctx, name, waiting, 0)
		if err != nil {
			return err
		}
		return printAccepted(a.stdout, accepted, asJSON)
	})
}

// chosen are the named tools of a list, or all of it.
func chosen(waiting []mcp.Definition, only []string) ([]mcp.Definition, error) {
	if len(only) == 0 {
		return waiting, nil
	}
	byName := map[string]mcp.Definition{}
	for _, d := range waiting {
		byName[d.Tool] = d
	}
	var all []mcp.Definition
	for _, name := range only {
		d, ok := byName[name]
		if !ok {
			return nil, usage.Errorf("no tool %s waits for you; klawbot mcp list shows them", name)
		}
		all = append(all, d)
	}
	return all, nil
}

func (a *app) printWaiting(server string, waiting []mcp.Definition) {
	if len(waiting) == 0 {
		fmt.Fprintf(a.stdout, "Nothing of %s is new or has changed.\n", server)
		return
	}
	for _, d := range waiting {
		fmt.Fprintln(a.stdout, a.redact.Text(terminal.Visible(mcp.Describe(d))))
	}
}

func agrees(ctx context.Context, a *app, ask *terminal.Prompter, tools int) (bool, error) {
	if !a.interactive() {
		return false, usage.Errorf("this needs a terminal to ask you in. Look at the tools above and add --yes")
	}
	return ask.Confirmed(ctx, fmt.Sprintf("Let the bot use these %d tools just as they are?", tools))
}

func printAccepted(w io.Writer, accepted []mcp.Accepted, asJSON bool) error {
	list := []acceptedTool{}
	for _, t := range accepted {
		list = append(list, acceptedTool{t.Name, t.Tool, t.Hash})
	}
	if asJSON {
		return printJSON(w, struct {
			Accepted []acceptedTool `json:"accepted"`
		}{list})
	}
	for _, t := range list {
		if _, err := fmt.Fprintln(w, t.Name); err != nil {
			return err
		}
	}
	return nil
}

// signInTime is how long signing in may take.
const signInTime = 10 * time.Minute

// listenForCallback listens where a client that was registered by hand is led
// to, or anywhere else when that is taken.
func listenForCallback() (net.Listener, error) {
	usual, err := url.Parse(mcp.Redirect)
	if err != nil {
		return nil, err
	}
	if ln, err := net.Listen("tcp", usual.Host); err == nil {
		return ln, nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// signIn lets the person at the terminal sign in at an MCP server in a
// browser: the page leads back to an address of this machine, or the person
// pastes the address that the browser shows in the end.
func signIn(w io.Writer, ask *terminal.Prompter) (at mcp.SignIn, done func()) {
	redirect, arrived := mcp.Redirect, make(chan string, 1)
	done = func() {}
	if ln, err := listenForCallback(); err == nil {
		redirect = "http://" + ln.Addr().String() + "/callback"
		server := &http.Server{ReadHeaderTimeout: bot.StatusTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "You can close this page and go back to klawbot.")
			select {
			case arrived <- redirect + "?" + r.URL.RawQuery:
			default:
			}
		})}
		go func() { _ = server.Serve(ln) }() // until it is closed
		done = func() { _ = server.Close() } // the command ends
	}
	return mcp.SignIn{Redirect: redirect, Visit: func(ctx context.Context, server, page string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, signInTime)
		defer cancel()
		fmt.Fprintf(w, "%s wants you to sign in. Open this page in a browser:\n\n%s\n\nThen come back here. If the browser runs on another machine, paste the address that it shows in the end:\n", server, terminal.Visible(page))
		select {
		case address := <-arrived:
			return address, nil
		case line := <-ask.Next():
			ask.Taken()
			return strings.TrimSpace(line.Text), line.Err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}, done
}

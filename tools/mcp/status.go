package mcp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/internal/clip"
	"klawbot/tools/mcp/schema"
	"klawbot/tools/mcp/shown"
)

// Standing is what a tool of a server is to us.
type Standing string

// The standings of tools.
const (
	// Usable: the owner has accepted it as it is.
	Usable Standing = "usable"
	// Unaccepted: the owner has not accepted it.
	Unaccepted Standing = "new"
	// Changed: it is not what the owner has accepted.
	Changed Standing = "changed"
	// Gone: the server does not have it any more.
	Gone Standing = "gone"
)

func (s Standing) why() string {
	switch s {
	case Changed:
		return "the server describes it in another way than the owner accepted; the owner can look at it with /mcp"
	case Gone:
		return "the server does not have it any more"
	}
	return "the owner has not accepted it"
}

// Status is how a server does. Its JSON form is stable.
type Status struct {
	Name string `json:"name"`
	// Where is the command or the address.
	Where string    `json:"where"`
	State State     `json:"state"`
	Since time.Time `json:"since,omitzero"`
	// Error says why it is down.
	Error    string `json:"error,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// Always says that the owner wants all its tools shown, see Server.Always.
	Always bool `json:"always,omitempty"`
	// Starts is how often it was connected to.
	Starts int          `json:"starts"`
	Tools  []ToolStatus `json:"tools"`
	// Waiting are those of the tools that are not accepted as they are, by name.
	Waiting []Definition `json:"-"`
	// Stderr is what the program said last on its standard error.
	Stderr string `json:"stderr,omitempty"`
}

// ToolStatus is one tool of a server. Its JSON form is stable.
type ToolStatus struct {
	// Name is what models know it by, empty before it was accepted; Tool is the server's name.
	Name        string   `json:"name,omitempty"`
	Tool        string   `json:"tool"`
	Standing    Standing `json:"standing"`
	ReadOnly    bool     `json:"read_only"`
	Description string   `json:"description"`
}

// Count counts the tools of a standing.
func (s Status) Count(standing Standing) int {
	n := 0
	for _, t := range s.Tools {
		if t.Standing == standing {
			n++
		}
	}
	return n
}

// Statuses are how the configured servers do, by name. It waits for nothing.
func (h *Host) Statuses() []Status {
	configured := h.config.Servers()
	var all []Status
	for _, name := range h.names() {
		all = append(all, h.status(name, configured[name]))
	}
	return all
}

// Probe connects to all configured servers, side by side, and says how they do.
func (h *Host) Probe(ctx context.Context) []Status {
	var probes sync.WaitGroup
	for _, name := range h.names() {
		probes.Go(func() {
			_ = h.Connect(ctx, name) // the status says what is wrong
		})
	}
	probes.Wait()
	return h.Statuses()
}

func (h *Host) status(name string, c Server) Status {
	st := Status{Name: name, Where: c.where(), Always: c.Always, State: Starting, Tools: []ToolStatus{}}
	var offered map[string]Definition
	if s := h.running(name); s != nil {
		offered = s.report(&st)
	}
	known := h.known()
	st.Waiting = unaccepted(name, offered, known)
	rows := map[string]ToolStatus{}
	for _, d := range offered {
		rows[d.Tool] = ToolStatus{Tool: d.Tool, Standing: Unaccepted, Description: d.Description}
	}
	for _, a := range known {
		if a.Server != name {
			continue
		}
		row := ToolStatus{Name: a.Name, Tool: a.Tool, Standing: Usable, Description: a.Description}
		if now, there := offered[a.Tool]; there && now.Hash() != a.Hash {
			row.Standing, row.Description = Changed, now.Description
		} else if offered != nil && !there {
			row.Standing = Gone
		}
		rows[a.Tool] = row
	}
	for _, tool := range slices.Sorted(maps.Keys(rows)) {
		row := rows[tool]
		row.Description = shown.Text(row.Description, shown.MaxAbout)
		row.ReadOnly = slices.Contains(c.ReadOnly, tool)
		st.Tools = append(st.Tools, row)
	}
	return st
}

// unaccepted are the tools of a server that are not known as they are, by name.
func unaccepted(server string, offered map[string]Definition, known []Accepted) []Definition {
	return slices.DeleteFunc(inOrder(offered), func(d Definition) bool {
		return slices.ContainsFunc(known, func(a Accepted) bool { return a.Server == server && a.Tool == d.Tool && a.Hash == d.Hash() })
	})
}

// where is the command or the address, without what may be secret in it.
func (c Server) where() string {
	if c.Command != "" {
		return strings.Join(append([]string{c.Command}, c.Args...), " ")
	}
	where, _, _ := strings.Cut(c.URL, "?")
	return where
}

// report describes the server's state and returns its tools, nil when they are unknown.
func (s *server) report(st *Status) map[string]Definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.State, st.Since, st.Starts = s.state, s.since, s.starts
	if s.fault != nil && s.state != Ready {
		st.Error = shown.Text(s.fault.Error(), shown.MaxAbout)
		var gone exitError
		if errors.As(s.fault, &gone) {
			st.Stderr = gone.stderr
		}
	}
	if s.conn != nil {
		st.Protocol = s.conn.session.InitializeResult().ProtocolVersion
		if s.conn.process != nil {
			_, stderr := s.conn.process.Output()
			st.Stderr = shown.Text(clip.Tail(strings.TrimSpace(stderr.String()), shown.MaxPart), shown.MaxPart)
		}
	}
	return maps.Clone(s.offered)
}

// Describe is a tool as the owner is shown it before accepting it: its name,
// its description and everything that its parameters say to a model.
func Describe(d Definition) string {
	lines := []string{shown.Text(d.Tool, shown.MaxPart), shown.Text(d.Description, shown.MaxAbout)}
	return strings.Join(append(lines, schema.Descriptions(d.Schema)...), "\n") + "\n"
}

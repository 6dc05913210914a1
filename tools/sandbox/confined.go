package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"klawbot/tools/sandbox/keep"
)

// The types of sandboxes.
const (
	TypeOff      = "off"
	TypeDocker   = "docker"
	TypeBwrap    = "bwrap"
	TypeLandlock = "landlock"
	TypeNsjail   = "nsjail"
)

// Types are the types that New knows, and off.
func Types() []string { return []string{TypeOff, TypeDocker, TypeBwrap, TypeLandlock, TypeNsjail} }

// Where a command finds its folders in a sandbox with mounts of its own.
const (
	insideWorkspace = "/workspace"
	insideSkills    = "/skills"
)

// Candidate is a type of sandbox as this machine has it.
type Candidate struct {
	Type string
	// Missing is what it lacks here, as far as that can be seen without starting
	// anything; nil: nothing.
	Missing error
}

// Candidates are all types but off, in the order in which an owner should think
// of them: the strongest first, nsjail last because Debian has no package of it.
func Candidates() []Candidate {
	_, bwrap := newBwrap()
	_, nsjail := newNsjail()
	return []Candidate{{TypeDocker, dockerSupport()}, {TypeBwrap, bwrap}, {TypeLandlock, landlockSupport()}, {TypeNsjail, nsjail}}
}

// Config describes a sandbox.
type Config struct {
	// Type is one of Types but off. Required.
	Type string
	// Workspace is the folder that commands may change. Required.
	Workspace string
	// Skills is a folder that commands may read; it need not exist. Empty: none.
	Skills string
	// Data is the folder that no command may see. Empty: none.
	Data string
	// Configuration is a file that no command may see. Empty: none.
	Configuration string
	// Image is what docker runs. Required for docker.
	Image string
	// Network lets commands use the network.
	Network bool
	// Mounts are further folders of the host.
	Mounts []Bind
	// Gate keeps commands waiting while it is closed; nil: none does.
	Gate   *Gate
	Limits Limits
}

// Limits bound one command. A limit of 0 is the default.
type Limits struct {
	MemoryMB int     // 256
	CPUs     float64 // 1
	Pids     int     // 64
	Seconds  int     // 30
	DiskMB   int     // 256
}

// Bind is a folder or file of the host in a sandbox.
type Bind struct {
	// Host is its absolute path outside, Inside the one that commands see.
	// landlock and off have no paths of their own: there both are Host.
	Host, Inside string
	Writable     bool
}

// Sandbox is a Runner that confines.
type Sandbox struct {
	config  Config
	backend backend
	cgroup  *cgroups // nil when there are none to use
}

var _ Runner = (*Sandbox)(nil)

// backend makes programs that run confined.
type backend interface {
	// stage makes the program that runs one argv of a command.
	stage(r *request, argv []string) (*stage, error)
}

// holdsLimits reports whether the backend keeps all limits itself, and not cgroups or
// limits of processes.
func (s *Sandbox) holdsLimits() bool { return s.config.Type == TypeDocker }

// request is a command on its way into a sandbox.
type request struct {
	run    string
	dir    string // inside
	env    []string
	binds  []Bind
	config Config
	bounds bounds
}

// stage is a program that keeps to the bounds.
func (r *request) stage(program string, argv []string, dir string) *stage {
	return &stage{&exec.Cmd{Path: program, Args: argv, Env: r.env, Dir: dir}, r.bounds}
}

// New returns a sandbox, or says what it lacks. It starts nothing; Check does.
func New(c Config) (*Sandbox, error) {
	c.Limits = c.Limits.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Sandbox{config: c}
	var err error
	switch c.Type {
	case TypeBwrap:
		s.backend, err = newBwrap()
	case TypeDocker:
		s.backend, err = newDocker(c)
	case TypeLandlock:
		s.backend, err = newLandlock()
	case TypeNsjail:
		s.backend, err = newNsjail()
	default:
		return nil, fmt.Errorf("unknown type of sandbox %q; there are %s", c.Type, strings.Join(Types(), ", "))
	}
	if err != nil {
		return nil, err
	}
	if !s.holdsLimits() {
		s.cgroup = findCgroups()
	}
	return s, nil
}

func (l Limits) withDefaults() Limits {
	set := func(n *int, usual int) {
		if *n <= 0 {
			*n = usual
		}
	}
	set(&l.MemoryMB, 256)
	set(&l.Pids, 64)
	set(&l.Seconds, 30)
	set(&l.DiskMB, 256)
	if l.CPUs <= 0 {
		l.CPUs = 1
	}
	return l
}

// dockerSockets are names that give a command the whole machine.
var dockerSockets = []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd", "/var/run/containerd"}

func (c Config) check() error {
	if !filepath.IsAbs(c.Workspace) {
		return fmt.Errorf("the workspace of a sandbox is an absolute path, not %q", c.Workspace)
	}
	if c.Data != "" && within(resolved(c.Workspace), resolved(c.Data)) {
		return errors.New("the data directory lies in the workspace, where commands in a sandbox would change it; move the workspace")
	}
	if c.Configuration != "" && within(resolved(c.Workspace), resolved(c.Configuration)) {
		return errors.New("the configuration lies in the workspace, where commands in a sandbox would read and change it; move it")
	}
	for _, m := range c.Mounts {
		if err := m.check(c.Data); err != nil {
			return err
		}
		if c.Configuration != "" && within(resolved(m.Host), resolved(c.Configuration)) {
			return fmt.Errorf("%s may not be mounted into a sandbox: it holds the configuration", m.Host)
		}
	}
	return nil
}

// check refuses what would open the sandbox.
func (b Bind) check(data string) error {
	if !filepath.IsAbs(b.Host) || !filepath.IsAbs(b.Inside) {
		return fmt.Errorf("a mount of a sandbox is HOST:INSIDE[:rw] with absolute paths, not %s:%s", b.Host, b.Inside)
	}
	if strings.ContainsAny(b.Host+b.Inside, ":,") {
		return fmt.Errorf("a mount of a sandbox has no colon or comma in its paths: %s", b.Host)
	}
	real := resolved(b.Host)
	for _, socket := range dockerSockets {
		if within(real, resolved(socket)) || within(resolved(socket), real) {
			return fmt.Errorf("%s may not be mounted into a sandbox: the docker socket gives the whole machine away", b.Host)
		}
	}
	if data != "" && (within(real, resolved(data))) {
		return fmt.Errorf("%s may not be mounted into a sandbox: it holds the data directory", b.Host)
	}
	if in := filepath.Clean(b.Inside); slices.Contains([]string{"/", insideWorkspace, insideSkills, "/proc", "/dev", "/tmp", "/usr", "/etc"}, in) {
		return fmt.Errorf("%s may not be mounted over %s of a sandbox", b.Host, in)
	}
	return nil
}

// ParseMount reads a mount as the configuration has it: HOST:INSIDE, for
// reading, or HOST:INSIDE:rw.
func ParseMount(text string) (Bind, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 && (parts[2] == "rw" || parts[2] == "ro") || len(parts) == 2 {
		b := Bind{Host: parts[0], Inside: parts[1], Writable: parts[len(parts)-1] == "rw"}
		return b, b.check("")
	}
	return Bind{}, fmt.Errorf("a mount of a sandbox is HOST:INSIDE, or HOST:INSIDE:rw, not %q", text)
}

// Name is the type.
func (s *Sandbox) Name() string { return s.config.Type }

// Describe says what bounds a command.
func (s *Sandbox) Describe() string {
	l, network := s.config.Limits, "no network"
	if s.config.Network {
		network = "network"
	}
	by := "limits of processes, watched"
	switch {
	case s.holdsLimits():
		by = s.config.Type
	case s.cgroup != nil:
		by = "cgroup " + s.cgroup.version()
	}
	return fmt.Sprintf("%s: %s, %d MB memory, %g CPU, %d processes, %d s, %d MB disk (by %s)",
		s.config.Type, network, l.MemoryMB, l.CPUs, l.Pids, l.Seconds, l.DiskMB, by)
}

// Check runs a command in the sandbox.
func (s *Sandbox) Check(ctx context.Context) error {
	out, err := s.Run(ctx, Command{Argv: []string{"sh", "-c", "echo $((40+2))"}, Dir: s.config.Workspace, Timeout: 20 * time.Second})
	switch {
	case err != nil:
		return fmt.Errorf("sandbox %s: %w", s.config.Type, err)
	case strings.TrimSpace(out.Stdout.String()) != "42":
		why := strings.TrimSpace(out.Stderr.String())
		if out.TimedOut {
			why = "it did not answer in time"
		}
		why, _, _ = strings.Cut(why, "\n")
		return fmt.Errorf("sandbox %s does not work here (%s); choose another tools.sandbox.type", s.config.Type, why)
	}
	return nil
}

// Sweep removes what the commands of a killed bot have left. No other bot with this
// workspace may run.
func (s *Sandbox) Sweep() {
	if d, ok := s.backend.(docker); ok {
		d.sweep(s.config.Workspace)
	}
	if s.cgroup != nil {
		s.cgroup.sweep()
	}
	SweepTemporary(s.config.Workspace)
}

// Place is how commands in the sandbox name a bound folder.
func (s *Sandbox) Place(b Bind) string {
	if s.config.Type == TypeLandlock {
		return b.Host
	}
	return b.Inside
}

// Workspace is how commands in the sandbox name the workspace.
func (s *Sandbox) Workspace() string { return s.Place(s.workspace()) }

// Skills is how commands in the sandbox name the folder of skills, "" when
// there is none.
func (s *Sandbox) Skills() string {
	if b, ok := s.skills(); ok {
		return s.Place(b)
	}
	return ""
}

func (s *Sandbox) workspace() Bind { return Bind{s.config.Workspace, insideWorkspace, true} }

func (s *Sandbox) skills() (Bind, bool) {
	if s.config.Skills == "" {
		return Bind{}, false
	}
	info, err := os.Stat(s.config.Skills)
	return Bind{Host: s.config.Skills, Inside: insideSkills}, err == nil && info.IsDir()
}

// Run runs a command to its end.
func (s *Sandbox) Run(ctx context.Context, c Command) (Outcome, error) { return run(ctx, s, c) }

// Start starts a command.
func (s *Sandbox) Start(ctx context.Context, c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	leave, err := s.config.Gate.enter(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.start(ctx, c, leave)
	if err != nil {
		leave()
	}
	return p, err
}

// start starts a command that calls leave when it has ended.
func (s *Sandbox) start(ctx context.Context, c Command, leave func()) (*Process, error) {
	r, err := s.request(c)
	if err != nil {
		return nil, err
	}
	putBack, err := s.readOnly(r, c.ReadOnly)
	if err != nil {
		return nil, err
	}
	j := job{putBack: putBack}
	undo := []func(){leave}
	j.cleanup = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	tmp, err := s.temporary(r)
	if err != nil {
		return nil, err
	}
	if tmp != "" {
		undo = append(undo, func() { removeAll(tmp) })
	}
	j.watch, err = s.bound(r, &undo)
	if err != nil {
		j.cleanup()
		return nil, err
	}
	for _, argv := range c.argvs() {
		stage, err := s.backend.stage(r, argv)
		if err != nil {
			j.cleanup()
			return nil, err
		}
		j.stages = append(j.stages, stage)
	}
	if d, ok := s.backend.(docker); ok {
		j.kill = func() { d.kill(r.run) }
	}
	if limit := time.Duration(s.config.Limits.Seconds) * time.Second; c.Timeout == 0 || c.Timeout > limit {
		c.Timeout = limit
	}
	return start(ctx, c, j)
}

// readOnly keeps files and folders of the workspace from a command: by read-only mounts
// where the sandbox has mounts and the file is at the top of the workspace, else by
// restoring them afterwards, which putBack does.
func (s *Sandbox) readOnly(r *request, names []string) (putBack func() []string, err error) {
	mounts := s.Place(s.workspace()) != s.config.Workspace
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		host := filepath.Join(s.config.Workspace, name)
		info, err := os.Lstat(host)
		// A file in a folder can be moved away with the folder.
		if !mounts || err != nil || filepath.Base(name) != name || !info.IsDir() && !info.Mode().IsRegular() {
			return false
		}
		r.binds = append(r.binds, Bind{Host: host, Inside: filepath.Join(insideWorkspace, name)})
		return true
	})
	return keep.Files(s.config.Workspace, names)
}

// request says how a command looks from inside.
func (s *Sandbox) request(c Command) (*request, error) {
	r := &request{run: newRun(), config: s.config, binds: append([]Bind{s.workspace()}, s.config.Mounts...)}
	if b, ok := s.skills(); ok {
		r.binds = append(r.binds, b)
	}
	r.binds = append(r.binds, c.Binds...)
	for _, b := range r.binds {
		if rest, ok := b.rest(c.Dir); ok {
			r.dir = filepath.Join(s.Place(b), rest)
		}
	}
	if r.dir == "" {
		return nil, fmt.Errorf("the directory to run in lies outside the sandbox: %s", c.Dir)
	}
	r.env = append(insideEnviron(), "WORKSPACE="+s.Workspace())
	if skills := s.Skills(); skills != "" {
		r.env = append(r.env, "SKILLS="+skills)
	}
	r.env = append(r.env, c.Env...)
	return r, nil
}

// rest is the way from what is bound to a folder in it, whatever links lead there.
func (b Bind) rest(dir string) (string, bool) {
	for _, d := range [][2]string{{b.Host, dir}, {resolved(b.Host), resolved(dir)}} {
		if rest, err := filepath.Rel(d[0], d[1]); err == nil && filepath.IsLocal(rest) {
			return rest, true
		}
	}
	return "", false
}

// temporary makes the folder for temporary files where the sandbox has no /tmp
// of its own.
func (s *Sandbox) temporary(r *request) (dir string, err error) {
	if s.config.Type != TypeLandlock {
		r.env = append(r.env, "HOME=/tmp", "TMPDIR=/tmp")
		return "", nil
	}
	dir, err = os.MkdirTemp("", tempPrefix(s.config.Workspace))
	r.binds = append(r.binds, Bind{dir, dir, true})
	r.env = append(r.env, "HOME="+dir, "TMPDIR="+dir)
	return dir, err
}

// tempPrefix begins the names of the temporary folders of the commands of one workspace.
func tempPrefix(workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return runPrefix + hex.EncodeToString(sum[:8]) + "-"
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// resolved is the path without links, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// removeAll removes a folder of a command, also what it has locked: Go makes the
// folders of its module cache read-only.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what stays locked, stays
		}
		return nil
	})
	_ = os.RemoveAll(dir) // the system's folder for temporary files is swept by others
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// docker runs each command in a container of its own, which is gone with it.
type docker struct{ program string }

// dockerVariables are what the client of docker needs of the bot's environment.
var dockerVariables = []string{"PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "XDG_RUNTIME_DIR"}

var errNoDocker = errors.New("docker not found; install docker, or use bwrap or landlock")

func newDocker(c Config) (docker, error) {
	program, err := exec.LookPath("docker")
	if err != nil {
		return docker{}, errNoDocker
	}
	if c.Image == "" || strings.HasPrefix(c.Image, "-") {
		return docker{}, errors.New("tools.sandbox.image is not set; name an image with python3 and bash, such as python:3-slim")
	}
	return docker{program}, nil
}

// dockerSupport says what is missing for docker.
func dockerSupport() error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errNoDocker
	}
	if !dockerListens() {
		return errors.New("no docker daemon listens; start it, or use bwrap or landlock")
	}
	return nil
}

// dockerListens reports whether there is a daemon to talk to, as far as that can
// be seen without waiting for it.
func dockerListens() bool {
	if os.Getenv("DOCKER_HOST") != "" || os.Getenv("DOCKER_CONTEXT") != "" {
		return true
	}
	home := os.Getenv("HOME")
	for _, socket := range []string{
		"/var/run/docker.sock", os.Getenv("XDG_RUNTIME_DIR") + "/docker.sock", home + "/.docker/run/docker.sock", home + "/.docker/desktop/docker.sock",
	} {
		if info, err := os.Stat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
			return true
		}
	}
	return false
}

func (d docker) stage(r *request, argv []string) (*stage, error) {
	s := r.stage(d.program, slices.Concat([]string{"docker"}, dockerArgs(r), argv), "/")
	s.Env = pick(dockerVariables)
	return s, nil
}

// dockerArgs are the arguments before the command.
func dockerArgs(r *request) []string {
	l := r.config.Limits
	disk := strconv.Itoa(l.DiskMB << 20)
	args := []string{
		"run", "--rm", "--interactive", "--init", "--pull", "never",
		"--label", dockerLabel + "=" + r.run, "--label", dockerOwner + "=" + r.config.Workspace,
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ipc", "private", "--hostname", "sandbox",
		"--user", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()),
		"--memory", fmt.Sprintf("%dm", l.MemoryMB), "--memory-swap", fmt.Sprintf("%dm", l.MemoryMB),
		"--cpus", strconv.FormatFloat(l.CPUs, 'f', -1, 64), "--pids-limit", strconv.Itoa(l.Pids + 1),
		"--ulimit", "fsize=" + disk, "--ulimit", "core=0", "--shm-size", disk,
		"--tmpfs", "/tmp:rw,nosuid,nodev,exec,mode=1777,size=" + disk, "--workdir", r.dir,
	}
	if !r.config.Network {
		args = append(args, "--network", "none")
	}
	for _, b := range r.binds {
		mount := "type=bind,source=" + b.Host + ",target=" + b.Inside
		if !b.Writable {
			mount += ",readonly"
		}
		args = append(args, "--mount", mount)
	}
	for _, v := range r.env {
		if !strings.HasPrefix(v, "PATH=") { // the image has its own
			args = append(args, "--env", v)
		}
	}
	return append(args, r.config.Image)
}

// The labels of the containers of commands: their run, and the workspace of the
// bot.
const (
	dockerLabel = "klawbot.run"
	dockerOwner = "klawbot.workspace"
)

// dockerPatience bounds how long the daemon may take to kill.
const dockerPatience = 20 * time.Second

// kill kills the containers of a run: without its client a container runs on.
func (d docker) kill(run string) { d.remove(dockerLabel + "=" + run) }

// sweep kills the containers that a bot which was killed has left running.
func (d docker) sweep(workspace string) { d.remove(dockerOwner + "=" + workspace) }

// remove kills and removes the containers with a label.
func (d docker) remove(label string) {
	ctx, cancel := context.WithTimeout(context.Background(), dockerPatience)
	defer cancel()
	for range maxKills {
		ids := d.output(ctx, "ps", "--all", "--quiet", "--filter", "label="+label)
		if len(ids) == 0 {
			return
		}
		d.output(ctx, append([]string{"rm", "--force"}, ids...)...)
	}
}

// maxKills bounds how often containers are looked for. A command that is stopped as it
// starts may have one that the daemon is still making.
const maxKills = 5

func (d docker) output(ctx context.Context, args ...string) []string {
	c := exec.CommandContext(ctx, d.program, args...)
	c.Env = pick(dockerVariables)
	out, _ := c.Output() // what is not gone is looked for again
	return strings.Fields(string(out))
}

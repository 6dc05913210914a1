package git

import (
	"path/filepath"
	"slices"
	"strings"

	"klawbot/internal/clip"
)

// call is a parsed call whose words are safe.
type call struct {
	action string
	// options are the options as git gets them, operands the names of
	// branches, commits and remotes, and paths what follows --.
	options, operands, paths []string
	// message says that the commit has its message.
	message bool
}

// network are the actions that talk with a remote.
var network = []string{"push", "pull", "fetch"}

func (c call) network() bool { return slices.Contains(network, c.action) }

// remote is the remote that the call names, "" for none.
func (c call) remote() string {
	if c.network() && len(c.operands) > 0 {
		return c.operands[0]
	}
	return ""
}

// parse reads a call and refuses what may do more than the action says. It checks only
// the words.
func (g *git) parse(args args) (call, error) {
	c := call{action: args.Action}
	if options[c.action] == nil {
		return c, invalid("action must be one of status, diff, log, add, commit, branch, checkout, push, pull, fetch")
	}
	words, err := splitWords(args.Extra)
	if err != nil {
		return c, err
	}
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		switch {
		case w == "--":
			c.paths, words = words, nil
			if c.network() || c.action == "branch" {
				return c, invalid("git " + c.action + " takes no paths")
			}
		case len(w) > 1 && w[0] == '-':
			if words, err = c.option(w, words); err != nil {
				return c, err
			}
		default:
			c.operands = append(c.operands, w)
		}
	}
	return c, g.check(&c)
}

// option takes up an option, with its value from the words that follow.
func (c *call) option(w string, words []string) ([]string, error) {
	if c.forces(w) {
		return nil, denied("Force " + c.action + " is blocked: it throws away the work of others; " + insteadOf[c.action])
	}
	name, value, given := strings.Cut(w, "=")
	if !strings.HasPrefix(w, "--") {
		return c.letters(w, words)
	}
	kind := options[c.action][name]
	if kind == takesValue && !given {
		if len(words) == 0 {
			return nil, invalid(name + " needs a value")
		}
		value, given, words = words[0], true, words[1:]
	}
	switch {
	case kind == 0:
		return nil, c.unknown(w)
	case kind == takesNone && given:
		return nil, invalid(name + " takes no value")
	case !given:
		c.options = append(c.options, name)
		return words, nil
	}
	return words, c.add(name, value)
}

// add takes up an option with a value, as one word.
func (c *call) add(name, value string) error {
	if check := valueForms[name]; check != nil && !check.MatchString(value) {
		return denied("git " + c.action + " may not have " + name + " with this value")
	}
	if (name == "--format" || name == "--pretty") && shows.MatchString(value) {
		return denied("%G verifies signatures, which runs a program; leave it out")
	}
	c.message = c.message || name == "-m" || name == "--message"
	if strings.HasPrefix(name, "--") {
		c.options = append(c.options, name+"="+value)
	} else {
		c.options = append(c.options, name+value)
	}
	return nil
}

// letters takes up a cluster of one-letter options, such as -am.
func (c *call) letters(w string, words []string) ([]string, error) {
	if c.action == "log" && strings.Trim(w[1:], "0123456789") == "" {
		c.options = append(c.options, w) // -10
		return words, nil
	}
	for i := 1; i < len(w); i++ {
		name, value := "-"+w[i:i+1], w[i+1:]
		switch kind := options[c.action][name]; {
		case kind == 0:
			return nil, c.unknown(w)
		case kind == takesNone, kind == mayTake && value == "":
			c.options = append(c.options, name)
			continue
		case value == "" && len(words) == 0:
			return nil, invalid(name + " needs a value")
		case value == "" && kind == takesValue:
			value, words = words[0], words[1:]
			if value == "" {
				return nil, invalid(name + " needs a value that is not empty")
			}
		}
		return words, c.add(name, value)
	}
	return words, nil
}

// insteadOf says what to do in the place of a forced action.
var insteadOf = map[string]string{
	"push":     "pull first, or push to a new branch",
	"checkout": "commit the changes first, or name the files after --",
}

// forces reports whether an option makes a push or a checkout drop what is in
// its way, in any spelling.
func (c *call) forces(w string) bool {
	if insteadOf[c.action] == "" {
		return false
	}
	name, _, _ := strings.Cut(w, "=")
	if strings.HasPrefix(name, "--") {
		return len(name) > 4 && strings.HasPrefix("--force", name) || strings.HasPrefix(name, "--force") ||
			c.action == "push" && (name == "--mirror" || name == "--delete" || name == "--prune")
	}
	for _, letter := range w[1:] {
		if letter == 'f' || c.action == "push" && letter == 'd' {
			return true
		}
		if options[c.action]["-"+string(letter)] == takesValue {
			return false // the rest is its value
		}
	}
	return false
}

func (c *call) unknown(w string) error {
	name, _, _ := strings.Cut(w, "=")
	return denied("git " + c.action + " may not have the option " + quote(name) + "; write options in full, and only those that git " + c.action + " needs itself")
}

// quote shortens foreign text for an error.
func quote(text string) string { return clip.Runes(text, 80) }

// check checks the operands and paths.
func (g *git) check(c *call) error {
	if c.action == "commit" && !c.message {
		return invalid(`git commit needs a message: -m "what changed"`)
	}
	lists := slices.Contains(c.options, "-l") || slices.Contains(c.options, "--list")
	for i, o := range c.operands {
		var err error
		switch {
		case c.network() && i == 0:
			err = remoteAllowed(o)
		case c.network():
			err = c.refspec(o)
		case c.action == "branch":
			if !nameForm.MatchString(o) && !lists {
				err = invalid("not a name of a branch: " + quote(o))
			}
		case o == "-" && c.action == "checkout":
		default:
			err = g.path(&c.operands[i])
		}
		if err != nil {
			return err
		}
	}
	for i := range c.paths {
		if err := g.path(&c.paths[i]); err != nil {
			return err
		}
	}
	return nil
}

// refspec checks a branch that is fetched or pushed.
func (c *call) refspec(o string) error {
	from, to, pair := strings.Cut(o, ":")
	switch {
	case strings.HasPrefix(o, "+"):
		if c.action == "push" {
			return denied("Force push is blocked: + before a branch forces it; " + insteadOf["push"])
		}
		return denied("+ before a branch overwrites it by force; leave it out")
	case pair && from == "" && c.action == "push":
		return denied("Force push is blocked: a branch with nothing before the colon is deleted at the remote")
	case !nameForm.MatchString(from), pair && !nameForm.MatchString(to):
		return invalid("not a name of a branch: " + quote(o))
	}
	return nil
}

// path brings a path into the form that git gets, and refuses what leads out of
// the workspace or into the repository itself. The names of commits pass it,
// too: none of them looks like such a path.
func (g *git) path(p *string) error {
	written := *p
	switch {
	case written == "":
		return invalid("an empty path")
	case strings.HasPrefix(written, "-"):
		*p = "./" + written
	case strings.HasPrefix(written, ":"):
		return denied("paths with a colon in front are patterns that reach further; write the path itself")
	case strings.HasPrefix(written, "~"):
		return denied("Access denied: path outside workspace")
	case filepath.IsAbs(written):
		rest, err := filepath.Rel(g.config.Workspace, filepath.Clean(written))
		if err != nil || !filepath.IsLocal(rest) {
			return denied("Access denied: path outside workspace")
		}
		*p = rest
	}
	if name, _, _ := strings.Cut(*p, ":"); !filepath.IsLocal(name) {
		return denied("Access denied: path outside workspace")
	}
	for part := range strings.SplitSeq(filepath.ToSlash(*p), "/") {
		if part == ".." {
			return denied("Access denied: path outside workspace")
		}
		if strings.EqualFold(strings.TrimRight(part, ". "), ".git") {
			return denied("Access denied: the repository's own files are no files of the workspace")
		}
	}
	return nil
}

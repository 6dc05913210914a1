package exec

import (
	"path/filepath"
	"slices"
	"strings"

	"klawbot/internal/clip"
)

// gitCall is a call that was found harmless in itself.
type gitCall struct {
	action string
	// options are the options as git gets them, operands the names of
	// branches, commits and remotes, and paths what follows --.
	options, operands, paths []string
	// message says that the commit has its message.
	message bool
}

// gitNetwork are the actions that talk with a remote.
var gitNetwork = []string{"push", "pull", "fetch"}

func (c gitCall) network() bool { return slices.Contains(gitNetwork, c.action) }

// remote is the remote that the call names, "" for none.
func (c gitCall) remote() string {
	if c.network() && len(c.operands) > 0 {
		return c.operands[0]
	}
	return ""
}

// parse reads a call and refuses what may do more than the action says. It looks
// at nothing but the words.
func (g *git) parse(args gitArgs) (gitCall, error) {
	c := gitCall{action: args.Action}
	if gitOptions[c.action] == nil {
		return c, gitInvalid("action must be one of status, diff, log, add, commit, branch, checkout, push, pull, fetch")
	}
	words, err := gitWords(args.Extra)
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
				return c, gitInvalid("git " + c.action + " takes no paths")
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
func (c *gitCall) option(w string, words []string) ([]string, error) {
	if c.forces(w) {
		return nil, gitDenied("Force " + c.action + " is blocked: it throws away the work of others; " + gitInstead[c.action])
	}
	name, value, given := strings.Cut(w, "=")
	if !strings.HasPrefix(w, "--") {
		return c.letters(w, words)
	}
	kind := gitOptions[c.action][name]
	if kind == gitValue && !given {
		if len(words) == 0 {
			return nil, gitInvalid(name + " needs a value")
		}
		value, given, words = words[0], true, words[1:]
	}
	switch {
	case kind == 0:
		return nil, c.unknown(w)
	case kind == gitFlag && given:
		return nil, gitInvalid(name + " takes no value")
	case !given:
		c.options = append(c.options, name)
		return words, nil
	}
	return words, c.add(name, value)
}

// add takes up an option with a value, as one word.
func (c *gitCall) add(name, value string) error {
	if check := gitCheck[name]; check != nil && !check.MatchString(value) {
		return gitDenied("git " + c.action + " may not have " + name + " with this value")
	}
	if (name == "--format" || name == "--pretty") && gitShows.MatchString(value) {
		return gitDenied("%G verifies signatures, which runs a program; leave it out")
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
func (c *gitCall) letters(w string, words []string) ([]string, error) {
	if c.action == "log" && strings.Trim(w[1:], "0123456789") == "" {
		c.options = append(c.options, w) // -10
		return words, nil
	}
	for i := 1; i < len(w); i++ {
		name, value := "-"+w[i:i+1], w[i+1:]
		switch kind := gitOptions[c.action][name]; {
		case kind == 0:
			return nil, c.unknown(w)
		case kind == gitFlag, kind == gitMaybe && value == "":
			c.options = append(c.options, name)
			continue
		case value == "" && len(words) == 0:
			return nil, gitInvalid(name + " needs a value")
		case value == "" && kind == gitValue:
			value, words = words[0], words[1:]
			if value == "" {
				return nil, gitInvalid(name + " needs a value that is not empty")
			}
		}
		return words, c.add(name, value)
	}
	return words, nil
}

// gitInstead says what to do in the place of a forced action.
var gitInstead = map[string]string{
	"push":     "pull first, or push to a new branch",
	"checkout": "commit the changes first, or name the files after --",
}

// forces reports whether an option makes a push or a checkout drop what is in
// its way, in any spelling.
func (c *gitCall) forces(w string) bool {
	if gitInstead[c.action] == "" {
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
		if gitOptions[c.action]["-"+string(letter)] == gitValue {
			return false // the rest is its value
		}
	}
	return false
}

func (c *gitCall) unknown(w string) error {
	name, _, _ := strings.Cut(w, "=")
	return gitDenied("git " + c.action + " may not have the option " + gitQuote(name) + "; write options in full, and only those that git " + c.action + " needs itself")
}

// gitQuote shortens foreign text for an error.
func gitQuote(text string) string { return clip.Runes(text, 80) }

// check looks at what is no option.
func (g *git) check(c *gitCall) error {
	if c.action == "commit" && !c.message {
		return gitInvalid(`git commit needs a message: -m "what changed"`)
	}
	lists := slices.Contains(c.options, "-l") || slices.Contains(c.options, "--list")
	for i, o := range c.operands {
		var err error
		switch {
		case c.network() && i == 0:
			err = gitRemoteAllowed(o)
		case c.network():
			err = c.refspec(o)
		case c.action == "branch":
			if !gitName.MatchString(o) && !lists {
				err = gitInvalid("not a name of a branch: " + gitQuote(o))
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
func (c *gitCall) refspec(o string) error {
	from, to, pair := strings.Cut(o, ":")
	switch {
	case strings.HasPrefix(o, "+"):
		if c.action == "push" {
			return gitDenied("Force push is blocked: + before a branch forces it; " + gitInstead["push"])
		}
		return gitDenied("+ before a branch overwrites it by force; leave it out")
	case pair && from == "" && c.action == "push":
		return gitDenied("Force push is blocked: a branch with nothing before the colon is deleted at the remote")
	case !gitName.MatchString(from), pair && !gitName.MatchString(to):
		return gitInvalid("not a name of a branch: " + gitQuote(o))
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
		return gitInvalid("an empty path")
	case strings.HasPrefix(written, "-"):
		*p = "./" + written
	case strings.HasPrefix(written, ":"):
		return gitDenied("paths with a colon in front are patterns that reach further; write the path itself")
	case strings.HasPrefix(written, "~"):
		return gitDenied("Access denied: path outside workspace")
	case filepath.IsAbs(written):
		rest, err := filepath.Rel(g.config.Workspace, filepath.Clean(written))
		if err != nil || !filepath.IsLocal(rest) {
			return gitDenied("Access denied: path outside workspace")
		}
		*p = rest
	}
	if name, _, _ := strings.Cut(*p, ":"); !filepath.IsLocal(name) {
		return gitDenied("Access denied: path outside workspace")
	}
	for part := range strings.SplitSeq(filepath.ToSlash(*p), "/") {
		if part == ".." {
			return gitDenied("Access denied: path outside workspace")
		}
		if strings.EqualFold(strings.TrimRight(part, ". "), ".git") {
			return gitDenied("Access denied: the repository's own files are no files of the workspace")
		}
	}
	return nil
}

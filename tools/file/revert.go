package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"klawbot/tools"
)

// revert undoes changes file by file and writes each file once. An error in one
// file does not stop the others.
func (f *files) revert(ctx context.Context, c tools.Call, h history, chosen []tools.Change) tools.Result {
	var lines, faults, done []string
	var kind tools.ErrorKind
	for _, chain := range byPath(chosen) {
		u := undoing{history: h, chain: chain}
		shown, err := f.alter(ctx, alteration{c, chain[0].Path, func(_ place, before snapshot) (outcome, error) {
			return u.outcome(ctx, c.Changelog, before)
		}})
		if err == nil {
			lines, done = append(lines, u.done()), append(done, shown)
			err = u.rest()
		}
		if err != nil {
			r := failed(err, "file", chain[0].Path)
			faults, kind = append(faults, r.Error), r.ErrorKind
		}
	}
	if len(faults) == 0 {
		return changed("OK: "+strings.Join(lines, "\n"), done...)
	}
	r := tools.Fail(kind, strings.Join(faults, "\n"))
	if len(lines) > 0 {
		r.Output += "\nUndone all the same:\n" + strings.Join(lines, "\n")
	}
	r.FilesChanged = done
	return r
}

// byPath groups changes by file, in the order of the newest.
func byPath(changes []tools.Change) [][]tools.Change {
	var all [][]tools.Change
	place := map[string]int{}
	for _, c := range changes {
		i, known := place[c.Path]
		if !known {
			i = len(all)
			place[c.Path] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// undoing undoes changes of one file, the newest first.
type undoing struct {
	history history
	chain   []tools.Change
	// covered is how many changes of the chain can be undone. The next one left
	// something else than state, the hash of the file.
	covered int
	state   string
}

// outcome is the file before the chain, as far as each change found what the one
// before it left. A change that was recorded and not made, because klawbot was
// killed, left what it found.
func (u *undoing) outcome(ctx context.Context, log tools.Changelog, before snapshot) (outcome, error) {
	u.state = before.hash()
	var last tools.Change
	var ids []int64
	for _, c := range u.chain {
		if c.After != u.state && c.Before != u.state {
			break
		}
		if c.Before != "" && !c.Kept {
			break
		}
		u.state, last = c.Before, c
		ids = append(ids, c.ID)
	}
	u.covered = len(ids)
	if u.covered == 0 {
		return outcome{}, u.rest()
	}
	if last.Before == "" {
		return outcome{remove: true, undoes: ids}, nil
	}
	image, err := log.Image(ctx, last.ID)
	if err != nil {
		return outcome{}, fmt.Errorf("read what it held before change %d: %w", last.ID, err)
	}
	if hash(image) != last.Before {
		return outcome{}, errors.New("what is kept of it is damaged")
	}
	return outcome{content: image, mode: last.Mode, undoes: ids}, nil
}

// done is the line about an undone file.
func (u *undoing) done() string {
	last := u.chain[u.covered-1]
	if last.Before == "" {
		return fmt.Sprintf("%s is removed, as before change %d", last.Path, last.ID)
	}
	return fmt.Sprintf("%s is as it was before change %d", last.Path, last.ID)
}

// rest says why the rest of the chain stays, nil when there is none.
func (u *undoing) rest() error {
	if u.covered == len(u.chain) {
		return nil
	}
	c := u.chain[u.covered]
	path := quote(c.Path)
	if c.Before != "" && !c.Kept {
		return tools.Refuse(tools.Execution, "%s: what it held before change %d was not kept, because it had a second name (hard link)", path, c.ID)
	}
	who := "outside of klawbot or by another chat"
	if later, ok := u.later(c); ok {
		who = fmt.Sprintf("by change %d", later.ID)
	}
	return tools.Refuse(tools.Execution, "%s was changed %s since change %d, so it was left alone; read the file and decide what it should hold", path, who, c.ID)
}

// later is the change after c that left the file as it is, if the chat may see it.
func (u *undoing) later(c tools.Change) (tools.Change, bool) {
	for _, later := range u.history.all {
		if later.Path == c.Path && later.ID > c.ID && later.After == u.state && u.history.visible(later) {
			return later, true
		}
	}
	return tools.Change{}, false
}

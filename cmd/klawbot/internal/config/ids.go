package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"klawbot/whitelist"
)

// list reads texts: a list, or one text with commas between them. what says
// what is expected.
func (d *decoder) list(n *yaml.Node, what string) ([]string, error) {
	texts := []string{}
	add := func(item *yaml.Node) {
		for _, text := range strings.Split(d.text(item), ",") {
			if text = strings.TrimSpace(text); text != "" {
				texts = append(texts, text)
			}
		}
	}
	wrong := errors.New("must be a list of " + what)
	switch n.Kind {
	case yaml.ScalarNode:
		add(n)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, wrong
			}
			add(item)
		}
	default:
		return nil, wrong
	}
	return texts, nil
}

// ids reads a list of ids.
func (d *decoder) ids(n *yaml.Node) ([]int64, error) {
	texts, err := d.list(n, "ids, such as [123456, -1001234567890]")
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(texts))
	var wrong []error
	for _, text := range texts {
		id, err := ParseID(text)
		if err != nil {
			wrong = append(wrong, err)
		}
		ids = append(ids, id)
	}
	if err := joined(wrong); err != nil {
		return ids, fmt.Errorf("%w; %s", err, FindID)
	}
	return ids, nil
}

// joined joins errors in one line, nil for none.
func joined(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// FindID says how a person finds an id.
const FindID = "write to the bot and read the id in its log (\"stranger turned away\"), or let klawbot init find it"

// ParseID reads an id in any of its forms: 123456, -100123,
// telegram_123456.
func ParseID(text string) (int64, error) {
	channel, id, err := whitelist.ParseID(text)
	if err != nil {
		return 0, err
	}
	if channel != "" && channel != "telegram" {
		return 0, fmt.Errorf("%q is an id of the channel %s, not of telegram", text, channel)
	}
	if id == 0 {
		return 0, fmt.Errorf("%q is no id", text)
	}
	return id, nil
}

// ParseIDs reads ids from the command line.
func ParseIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := ParseID(arg)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, FindID)
		}
		ids[i] = id
	}
	return ids, nil
}

// Unique drops ids that stand in the list already, and keeps the order.
func Unique(ids []int64) []int64 {
	var kept []int64
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

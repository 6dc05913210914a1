package data

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"klawbot/engine/internal/approval"
	"klawbot/engine/internal/toolset"
	"klawbot/gateway"
	"klawbot/tools"
)

// Grant and Approval are rows of the record of who allowed what.
type (
	Grant    = approval.Grant
	Approval = approval.Asked
)

// ErrNoGrant: there is no grant with the id.
var ErrNoGrant = approval.ErrNoGrant

// Approvals is the record of who was asked what and who allowed it.
func (d *Data) Approvals() approval.Record { return approval.Record{Store: d.store} }

// CheckPolicy says what would happen to a call from a chat, in its text form, or
// at the command line. Who speaks in an owner's private chat is an owner; in a
// group it may be anybody. Nothing runs.
func (d *Data) CheckPolicy(tool string, arguments json.RawMessage, chat string) tools.Decision {
	owner := chat == ""
	if id, err := gateway.ParseChatID(chat); err == nil {
		owner = id.ID == 0 || slices.Contains(d.settings().Owners[id.Channel], id.ID)
	}
	return d.executor.Check(tools.Call{Name: tool, Arguments: arguments, Chat: chat, Origin: tools.OriginPerson, Owner: owner})
}

// CallApproved is CallTool by an owner who has agreed beforehand to what would
// be asked.
func (d *Data) CallApproved(ctx context.Context, name string, arguments json.RawMessage) (tools.Result, error) {
	return d.call(ctx, name, arguments, tools.Always{})
}

// call calls a tool as the owner at the command line.
func (d *Data) call(ctx context.Context, name string, arguments json.RawMessage, who tools.Approver) (tools.Result, error) {
	log, err := d.changelog(ctx, name)
	if err != nil {
		return tools.Result{}, fmt.Errorf("open the changelog: %w", err)
	}
	return d.executor.Execute(ctx, tools.Call{
		ID: rand.Text(), Name: name, Arguments: arguments, Origin: tools.OriginPerson, Changelog: log, Approver: who, Owner: true,
	}, posting{d})
}

// changelog is for a call of a tool at the command line, nil when the tool
// changes nothing and the bot has never run. For one that does, the database is
// begun, so that what a command changes can be undone, too.
func (d *Data) changelog(ctx context.Context, tool string) (tools.Changelog, error) {
	if d.store == nil {
		t, _, ok := d.executor.Registry().Find(tool)
		if !ok || !t.Spec().Changes {
			return nil, nil
		}
		if err := d.begin(ctx); err != nil {
			return nil, err
		}
	}
	return toolset.Changelog{Store: d.store}, nil
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

func question(n int) store.Approval {
	return store.Approval{
		Token: fmt.Sprintf("token-%d", n), Turn: 7, Call: fmt.Sprintf("call-%d", n), Address: anna, Sender: 123,
		Tool: "shell", Hash: "hash", Shown: `command: "ls"`, ExpiresAt: time.Now().Add(time.Minute).UTC().Truncate(time.Millisecond),
	}
}

func ask(t testing.TB, s *store.Store, a store.Approval) (id store.ApprovalID) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		id, err = tx.Approvals().AddApproval(a)
		return err
	})
	return id
}

func approvalOf(t testing.TB, s *store.Store, turn store.TurnID, call string) (a store.Approval, err error) {
	t.Helper()
	read(t, s, func(tx *store.Tx) error {
		a, err = tx.Approvals().ApprovalOf(turn, call)
		return nil
	})
	return a, err
}

func TestApprovalIsKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	want := question(1)
	want.Home, want.Owners, want.Once = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 3}, true, true
	want.ID, want.State = ask(t, s, want), store.ApprovalPending
	must(t, s.Close())
	s = open(t, dir)
	got, err := approvalOf(t, s, 7, "call-1")
	want.AskedAt = got.AskedAt
	if diff := cmp.Diff(want, got); err != nil || diff != "" || got.AskedAt.IsZero() {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := approvalOf(t, s, 8, "call-1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the call of another turn: %v", err)
	}
	again := question(1)
	again.Token = "another"
	err = s.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.Approvals().AddApproval(again); return err })
	if err == nil {
		t.Error("a call is asked about twice")
	}
}

// TestOwnersGrantIsByAnOwner: what only owners may decide takes no grant of others.
func TestOwnersGrantIsByAnOwner(t *testing.T) {
	s := open(t, t.TempDir())
	asked := question(1)
	asked.Owners = true
	write(t, s, func(tx *store.Tx) error {
		_, err := tx.Approvals().AddGrant(store.Grant{
			Channel: anna.Chat.Channel, Chat: anna.Chat.ID, Sender: 123, Tool: "shell", Hash: "hash", AddedBy: 123, ExpiresAt: time.Now().Add(time.Hour),
		})
		return err
	})
	for _, c := range []struct {
		owners []int64
		found  bool
	}{{nil, false}, {[]int64{5}, false}, {[]int64{5, 123}, true}} {
		write(t, s, func(tx *store.Tx) error {
			if _, err := tx.Approvals().UseGrant(asked, c.owners); errors.Is(err, store.ErrNotFound) == c.found {
				t.Errorf("owners %v: %v", c.owners, err)
			}
			return nil
		})
	}
}

// TestUnreachedApprovals: what comes from another chat ends with the chat in which
// it is asked, and nothing else does.
func TestUnreachedApprovals(t *testing.T) {
	s := open(t, t.TempDir())
	own, away, moved := question(1), question(2), question(3)
	away.Home = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}
	moved.Home = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 3}
	for _, a := range []store.Approval{own, away, moved} {
		ask(t, s, a)
	}
	write(t, s, func(tx *store.Tx) error {
		if err := tx.Chats().MoveChat("telegram", -100, -1000); err != nil {
			return err
		}
		lost, err := tx.Approvals().UnreachApprovals(anna.Chat.Channel, anna.Chat.ID)
		if len(lost) != 2 || lost[0].Call != away.Call || lost[1].Home != (store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -1000}, Thread: 3}) {
			t.Errorf("lost are %+v", lost)
		}
		return err
	})
	for call, want := range map[string]store.ApprovalState{own.Call: store.ApprovalPending, away.Call: store.ApprovalUnreached, moved.Call: store.ApprovalUnreached} {
		if a, err := approvalOf(t, s, 7, call); err != nil || a.State != want {
			t.Errorf("%s is %s (%v), want %s", call, a.State, err, want)
		}
	}
}

// TestTapsResolveOnce is 10,000 taps at one time on 100 questions.
func TestTapsResolveOnce(t *testing.T) {
	const questions, taps = 100, 100
	s := open(t, t.TempDir())
	ids := make([]store.ApprovalID, questions)
	for i := range ids {
		ids[i] = ask(t, s, question(i))
	}
	won := make([]atomic.Int64, questions)
	winner := make([]atomic.Int64, questions)
	var all sync.WaitGroup
	for n := range questions * taps {
		all.Go(func() {
			by := int64(n + 1)
			err := s.Write(context.Background(), func(tx *store.Tx) error {
				ok, err := tx.Approvals().Answer(ids[n%questions], []store.ApprovalState{store.ApprovalOnce, store.ApprovalDenied}[n/questions%2], by, 0)
				if ok {
					won[n%questions].Add(1)
					winner[n%questions].Store(by)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range ids {
		a, err := approvalOf(t, s, 7, fmt.Sprintf("call-%d", i))
		if err != nil || won[i].Load() != 1 || a.AnsweredBy != winner[i].Load() || a.State == store.ApprovalPending || a.AnsweredAt.IsZero() {
			t.Fatalf("question %d: %d taps won, row %+v, error %v", i, won[i].Load(), a, err)
		}
	}
}

func TestGrantAllowsTheExactCallForAWhile(t *testing.T) {
	s := open(t, t.TempDir())
	asked := question(1)
	use := func(a store.Approval) (g store.Grant, err error) {
		write(t, s, func(tx *store.Tx) error {
			g, err = tx.Approvals().UseGrant(a, nil)
			return nil
		})
		return g, err
	}
	if _, err := use(asked); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("without a grant: %v", err)
	}
	var id store.GrantID
	add := func(until time.Duration) {
		write(t, s, func(tx *store.Tx) (err error) {
			id, err = tx.Approvals().AddGrant(store.Grant{
				Channel: anna.Chat.Channel, Chat: anna.Chat.ID, Sender: 123, Tool: "shell", Hash: "hash", Shown: asked.Shown,
				AddedBy: 123, ExpiresAt: time.Now().Add(until),
			})
			return err
		})
	}
	add(-time.Second)
	if _, err := use(asked); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after its time: %v", err)
	}
	add(time.Hour)
	if g, err := use(asked); err != nil || g.ID != id {
		t.Errorf("grant %+v, error %v", g, err)
	}
	for name, change := range map[string]func(*store.Approval){
		"other arguments": func(a *store.Approval) { a.Hash = "other" },
		"another tool":    func(a *store.Approval) { a.Tool = "git" },
		"another person":  func(a *store.Approval) { a.Sender = 5 },
		"another chat":    func(a *store.Approval) { a.Address.Chat.ID = 5 },
	} {
		other := asked
		change(&other)
		if _, err := use(other); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var all []store.Grant
	read(t, s, func(tx *store.Tx) (err error) {
		all, err = tx.Approvals().Grants()
		return err
	})
	if len(all) != 1 || all[0].LastUsed.IsZero() || all[0].AddedBy != 123 {
		t.Errorf("grants are %+v", all)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Approvals().RemoveGrant(id) })
	if _, err := use(asked); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after it was taken back: %v", err)
	}
	if err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Approvals().RemoveGrant(id) }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("taken back twice: %v", err)
	}
}

func TestApprovalsWaitAtTheirAddressUntilTheTurnEnds(t *testing.T) {
	s := open(t, t.TempDir())
	waits := func(at store.Address) string {
		var a store.Approval
		read(t, s, func(tx *store.Tx) (err error) {
			if a, err = tx.Approvals().PendingApproval(at); errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		})
		return a.Call
	}
	var turn store.TurnID
	write(t, s, func(tx *store.Tx) (err error) {
		turn, err = startTurn(tx)
		return err
	})
	for n := range 3 {
		q := question(n)
		q.Turn = turn
		if n == 2 {
			q.Turn, q.Address.Thread = turn+1, 4
		}
		ask(t, s, q)
	}
	if got := waits(anna); got != "call-0" {
		t.Errorf("the oldest is %q", got)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Turns().EndTurn(store.Turn{ID: turn, State: store.TurnDone}) })
	a, err := approvalOf(t, s, turn, "call-1")
	if err != nil || a.State != store.ApprovalStopped || waits(anna) != "" {
		t.Errorf("after the end of its turn: %+v, %v", a, err)
	}
	topic := anna
	topic.Thread = 4
	if got := waits(topic); got != "call-2" {
		t.Errorf("another turn's waits as %q", got)
	}
}

func TestApprovalsFollowAChatAndAreForgotten(t *testing.T) {
	s := open(t, t.TempDir())
	group := question(1)
	group.Address = store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -5}}
	ask(t, s, group)
	write(t, s, func(tx *store.Tx) error { return tx.Chats().MoveChat("telegram", -5, -1005) })
	if a, err := approvalOf(t, s, 7, "call-1"); err != nil || a.Address.Chat.ID != -1005 {
		t.Errorf("moved to %+v, %v", a.Address, err)
	}
	write(t, s, func(tx *store.Tx) error {
		n, err := tx.Prune(store.AgedApprovals, time.Now().Add(time.Hour))
		if n != 1 {
			t.Errorf("%d forgotten", n)
		}
		return err
	})
}

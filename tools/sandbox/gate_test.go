package sandbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestGateKeepsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gate{}
		ctx := t.Context()
		leave, err := g.enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		leave2, _ := g.enter(ctx) // commands run side by side
		hurried, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := g.Close(hurried); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it closed on a command: %v", err)
		}
		entered, closed := false, false
		var open func()
		go func() { open, _ = g.Close(ctx); closed = true }()
		synctest.Wait()
		go func() {
			if leave, err := g.enter(ctx); err == nil {
				entered = true
				leave()
			}
		}()
		synctest.Wait()
		if leave(); closed || entered {
			t.Errorf("closed %v, entered %v while a command ran", closed, entered)
		}
		leave2()
		leave2() // once is enough
		synctest.Wait()
		if !closed || entered {
			t.Errorf("closed %v, entered %v when no command ran", closed, entered)
		}
		other, err := g.Close(ctx)
		if err != nil {
			t.Error(err)
		}
		open()
		synctest.Wait()
		if entered {
			t.Error("a command entered while one of two kept it closed")
		}
		other()
		synctest.Wait()
		if !entered {
			t.Error("a command waits at the open gate")
		}
		if leave, err := (*Gate)(nil).enter(ctx); err != nil {
			t.Error(err)
		} else {
			leave()
		}
	})
}

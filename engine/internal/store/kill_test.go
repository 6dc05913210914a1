package store_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"klawbot/engine/internal/store"
)

// childDir makes the test binary the process that TestKill kills: it writes to
// the store in that folder and prints the number of each write that returned.
const childDir = "KLAWBOT_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := writeForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func writeForEver(dir string) error {
	s, err := store.Open(context.Background(), store.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	first, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		return err
	}
	faults := make(chan error)
	for w := range int64(10) {
		go func() {
			for id := first + w; ; id += 10 {
				if err := s.Write(context.Background(), addUpdate(id)); err != nil {
					faults <- err
				}
				fmt.Println(id)
			}
		}()
	}
	return <-faults
}

// TestKill shows that what Write acknowledged is there after a kill -9, and
// that each start after one works.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[int64]bool{}
	for round := range 8 {
		for _, id := range killedWriter(t, dir, round*1_000_000, 1+rand.IntN(400)) {
			acknowledged[id] = true
		}
		s := open(t, dir)
		stored := map[int64]bool{}
		read(t, s, func(tx *store.Tx) error {
			all, err := tx.Inbox().NewUpdates()
			for _, u := range all {
				stored[u.Update.ID] = true
			}
			return err
		})
		for id := range acknowledged {
			if !stored[id] {
				t.Fatalf("round %d: write %d was acknowledged and is lost", round, id)
			}
		}
		must(t, s.Close())
	}
	if len(acknowledged) < 8 {
		t.Errorf("only %d writes were acknowledged", len(acknowledged))
	}
}

// killedWriter runs the child, kills it after some lines and returns all that
// it acknowledged until then.
func killedWriter(t *testing.T, dir string, first, lines int) (ids []int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], strconv.Itoa(first))
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	in := bufio.NewScanner(out)
	for in.Scan() {
		id, err := strconv.ParseInt(in.Text(), 10, 64)
		if err != nil {
			continue // the line that the kill cut
		}
		ids = append(ids, id)
		if len(ids) == lines {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || len(ids) < lines {
		t.Fatalf("the child ended by itself after %d writes: %v", len(ids), err)
	}
	return ids
}

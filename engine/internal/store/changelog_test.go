package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
)

// addChange records a change with an image.
func addChange(t *testing.T, s *store.Store, c store.Change, image []byte) (id store.ChangeID) {
	t.Helper()
	c.Size = int64(len(image))
	write(t, s, func(tx *store.Tx) (err error) {
		id, err = tx.Changes().AddChange(c, image)
		return err
	})
	return id
}

func changesOf(t *testing.T, s *store.Store) (all []store.Change) {
	t.Helper()
	read(t, s, func(tx *store.Tx) (err error) {
		all, err = tx.Changes().Changes()
		return err
	})
	return all
}

func imageOf(t *testing.T, s *store.Store, id store.ChangeID) (image []byte, err error) {
	t.Helper()
	read(t, s, func(tx *store.Tx) error {
		image, err = tx.Changes().ChangeImage(id)
		return nil
	})
	return image, err
}

func TestChanges(t *testing.T) {
	s := open(t, t.TempDir())
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	first := store.Change{
		Call: "c1", Turn: 7, Chat: "telegram_1", Tool: "file_write", Path: "a.txt", Before: "x", After: "y",
		Mode: 0o640, Kept: true, At: at,
	}
	second := store.Change{Call: "c2", Tool: "file_undo", Path: "b.txt", After: "z", Undoes: []store.ChangeID{1}, At: at}
	first.ID = addChange(t, s, first, []byte{0, 1, 2})
	second.ID = addChange(t, s, second, nil)
	first.Size = 3
	if diff := cmp.Diff([]store.Change{second, first}, changesOf(t, s)); diff != "" {
		t.Error(diff)
	}
	if image, err := imageOf(t, s, first.ID); err != nil || !bytes.Equal(image, []byte{0, 1, 2}) {
		t.Errorf("image is %v, %v", image, err)
	}
	if _, err := imageOf(t, s, second.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an image that was not kept: %v", err)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Changes().DropChange(first.ID) })
	if _, err := imageOf(t, s, first.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the image of a change that was dropped: %v", err)
	}
	err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Changes().DropChange(first.ID) })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	if id := addChange(t, s, second, nil); id <= second.ID {
		t.Errorf("id %d was given again", id)
	}
}

func TestAnEmptyImageIsKept(t *testing.T) {
	s := open(t, t.TempDir())
	id := addChange(t, s, store.Change{Path: "empty", Before: "x", Kept: true}, nil)
	if image, err := imageOf(t, s, id); err != nil || len(image) != 0 {
		t.Errorf("image is %v, %v", image, err)
	}
}

func TestOldChangesAreForgotten(t *testing.T) {
	s := open(t, t.TempDir())
	now := time.Now()
	for day := range 4 {
		addChange(t, s, store.Change{Path: fmt.Sprint(day), Kept: true, At: now.AddDate(0, 0, day-40)}, []byte("x"))
	}
	var n int64
	write(t, s, func(tx *store.Tx) (err error) {
		n, err = tx.Prune(store.AgedChanges, now.AddDate(0, 0, -38))
		return err
	})
	if all := changesOf(t, s); n != 2 || len(all) != 2 || all[0].Path != "3" || all[1].Path != "2" {
		t.Errorf("%d pruned, left: %v", n, all)
	}
	if _, err := imageOf(t, s, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the image of a change that was pruned: %v", err)
	}
}

// TestImagesHaveAQuota stores more than 64 MiB: the oldest go, and the newest
// stays in any case.
func TestImagesHaveAQuota(t *testing.T) {
	s := open(t, t.TempDir())
	const many, size = 10, 8 << 20
	for i := range many {
		addChange(t, s, store.Change{Path: fmt.Sprint(i), Kept: true}, bytes.Repeat([]byte{byte(i)}, size))
	}
	var paths []string
	for _, c := range changesOf(t, s) {
		paths = append(paths, c.Path)
	}
	if want := []string{"9", "8", "7", "6", "5", "4", "3", "2"}; !slices.Equal(paths, want) {
		t.Errorf("kept: %v", paths)
	}
	if image, err := imageOf(t, s, many); err != nil || len(image) != size || image[0] != many-1 {
		t.Errorf("the newest image: %d bytes, %v", len(image), err)
	}
}

func TestChangesHaveABound(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, func(tx *store.Tx) error {
		for range 10_010 {
			if _, err := tx.Changes().AddChange(store.Change{Path: "a"}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if all := changesOf(t, s); len(all) != 10_000 || all[0].ID != 10_010 {
		t.Errorf("%d are kept, the newest is %d", len(all), all[0].ID)
	}
}

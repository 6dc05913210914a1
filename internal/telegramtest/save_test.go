package telegramtest_test

import (
	"slices"
	"testing"

	"klawbot/internal/telegramtest"
)

func TestSaveAndRestore(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.AddUser(telegramtest.User{ID: alice, FirstName: "Ann"})
	s.User(alice).Send("one")
	c.updates(obj{"offset": 2})
	s.User(alice).Send("two")
	id := c.send(obj{"text": "three", "reply_markup": keyboard(obj{"text": "OK", "callback_data": "ok"})})

	again, c2 := start(t, telegramtest.Config{})
	if err := again.Restore(s.Save()); err != nil {
		t.Fatal(err)
	}
	if got := c2.updates(obj{}); !slices.Equal(got, []int64{2}) {
		t.Error(got)
	}
	if next := again.User(alice).Send("four"); next != id+1 {
		t.Errorf("the next message is %d", next)
	}
	c2.call("editMessageText", obj{"chat_id": alice, "message_id": id, "text": "three\nlines", "reply_markup": keyboard(obj{"text": "OK", "callback_data": "ok"})})
	want := "Ann: one\nAnn: two\nbot: three\n  lines (edited)\n  [OK]\nAnn: four\n"
	if got := again.Transcript(alice); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := again.Restore([]byte("{")); err == nil {
		t.Error("half a state was restored")
	}
}

package telegram

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
)

func TestPlain(t *testing.T) {
	p := gateway.Part{Text: "a", Entities: []gateway.Entity{{Type: "bold", Length: 1}}, ReplyTo: 7, Silent: true, Last: true}
	want := gateway.Part{Text: "a", ReplyTo: 7, Silent: true, Last: true}
	if diff := cmp.Diff(want, plain(p)); diff != "" {
		t.Errorf("plain (-want +got):\n%s", diff)
	}
	if len(p.Entities) != 1 {
		t.Error("plain changed its argument")
	}
}

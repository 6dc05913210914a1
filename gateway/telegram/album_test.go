package telegram_test

import (
	"testing"

	"klawbot/gateway"
	"klawbot/internal/telegramtest"
)

// TestAlbums: files leave as one album in one call; as photos only if all of them can be.
func TestAlbums(t *testing.T) {
	for name, c := range map[string]struct {
		last   func(*testing.T) *gateway.Document
		photos bool
	}{
		"pictures":           {func(t *testing.T) *gateway.Document { return file(t, "c.png", "image/png", picture(t, 4, 4)) }, true},
		"a text among them":  {func(t *testing.T) *gateway.Document { return file(t, "c.txt", "text/plain", []byte("text")) }, false},
		"a picture too long": {func(t *testing.T) *gateway.Document { return file(t, "c.png", "image/png", picture(t, 41, 2)) }, false},
		"a picture as a file": {func(t *testing.T) *gateway.Document {
			d := file(t, "c.png", "image/png", picture(t, 4, 4))
			d.As = gateway.AsFile
			return d
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				album := []*gateway.Document{file(t, "a.png", "image/png", picture(t, 2, 2)), file(t, "b.png", "image/png", picture(t, 3, 3)), c.last(t)}
				id, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "look", Entities: []gateway.Entity{{Type: "bold", Length: 4}}, Album: album})
				if err != nil {
					t.Fatal(err)
				}
				var sent []telegramtest.Message
				captions := ""
				for _, m := range w.fake.Messages(5) {
					if m.Album != "" {
						sent, captions = append(sent, m), captions+m.Text
					}
				}
				if len(sent) != 3 || sent[0].ID != id || captions != "look" || w.fake.Count("sendMediaGroup") != 1 {
					t.Fatalf("sent %+v", sent)
				}
				for i, m := range sent {
					if (m.Photo != "") != c.photos || m.Album != sent[0].Album {
						t.Errorf("%d: %+v", i, m)
					}
					if f := w.fake.Document(m.Photo + m.Document); f.Name != album[i].Name {
						t.Errorf("%d is %s, want %s", i, f.Name, album[i].Name)
					}
				}
			})
		})
	}
}

// TestRefusedAlbum: what Telegram does not take as photos goes as files.
func TestRefusedAlbum(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.fake.Fault(telegramtest.Fault{Method: "sendMediaGroup", Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: IMAGE_PROCESS_FAILED"})
		album := []*gateway.Document{file(t, "a.png", "image/png", picture(t, 2, 2)), file(t, "b.png", "image/png", picture(t, 3, 3))}
		if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Album: album}); err != nil {
			t.Fatal(err)
		}
		if m := last(w, 5); m.Document == "" || m.Photo != "" {
			t.Errorf("sent %+v", m)
		}
	})
}

package telegramtest

import "strconv"

// The bounds of an album that a bot sends.
const minAlbum, maxAlbum = 2, 10

// sendMediaGroup sends an album: photos, or files of one kind. s.mu is held.
func (s *Server) sendMediaGroup(p params) (any, *apiError) {
	var group []struct {
		Type     string   `json:"type"`
		Media    string   `json:"media"`
		Caption  string   `json:"caption"`
		Entities []Entity `json:"caption_entities"`
	}
	if err := p.object("media", &group); err != nil {
		return nil, badRequest("can't parse media JSON object")
	}
	if len(group) < minAlbum || len(group) > maxAlbum {
		return nil, badRequest("wrong number of items in the album")
	}
	var all []Message
	for _, g := range group {
		if g.Type != group[0].Type || g.Type != "photo" && g.Type != "document" {
			return nil, badRequest("media of type %s can't be mixed with others", g.Type)
		}
		p.values["media of the group"] = g.Media
		id, err := s.file(p, "media of the group", maxDocument)
		if err != nil {
			return nil, err
		}
		if units(g.Caption) > maxCaption {
			return nil, badRequest("message caption is too long")
		}
		m := Message{Text: g.Caption, Entities: g.Entities, Document: id}
		if g.Type == "photo" {
			if err := s.files[id].photo(); err != nil {
				return nil, err
			}
			m.Document, m.Photo = "", id
		}
		all = append(all, m)
	}
	s.lastAlbum++
	album := "album-" + strconv.FormatInt(s.lastAlbum, 10)
	var sent []any
	for i, m := range all {
		m.Album = album
		limits := s.config.Limits
		s.config.Limits = limits && i == 0 // an album is one message for them
		one, err := s.send(p, m)
		s.config.Limits = limits
		if err != nil {
			return nil, err
		}
		sent = append(sent, one)
	}
	return sent, nil
}

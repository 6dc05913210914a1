package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"strings"
)

// Picture is a picture that a request brought, as far as the fake sees it.
type Picture struct {
	MIME   string `json:"mime"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Bytes  int    `json:"bytes"`
	// Colour is the colour of most of it: "red", "green", "blue", "white", "black".
	Colour string `json:"colour"`
}

// String is how replies describe it: "red 640x480".
func (p Picture) String() string { return fmt.Sprintf("%s %dx%d", p.Colour, p.Width, p.Height) }

// The bounds that some provider has for pictures.
const (
	maxPicture     = 5 << 20
	maxPictureSide = 8000
)

// readPicture decodes a picture, and refuses what some provider refuses and what must
// not leave a machine. mime is "" where the protocol does not say it.
func readPicture(mime, data string) (Picture, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	kind := http.DetectContentType(raw)
	switch {
	case err != nil || len(raw) == 0:
		return Picture{}, errors.New("invalid base64 image data")
	case len(raw) > maxPicture:
		return Picture{}, fmt.Errorf("image exceeds 5 MB maximum: %d bytes > %d bytes", len(raw), maxPicture)
	case mime != "" && mime != kind:
		return Picture{}, fmt.Errorf("image was specified using the %s media type, but appears to be %s", mime, kind)
	case bytes.Contains(raw, []byte("Exif\x00\x00")), bytes.Contains(raw, []byte("eXIf")):
		return Picture{}, errors.New("the picture tells of its camera (EXIF)")
	}
	var m image.Image
	switch kind {
	case "image/jpeg":
		m, err = jpeg.Decode(bytes.NewReader(raw))
	case "image/png":
		m, err = png.Decode(bytes.NewReader(raw))
	default:
		return Picture{}, fmt.Errorf("media type %s is neither image/jpeg nor image/png", kind)
	}
	if err != nil {
		return Picture{}, fmt.Errorf("could not process image: %w", err)
	}
	p := Picture{MIME: kind, Width: m.Bounds().Dx(), Height: m.Bounds().Dy(), Bytes: len(raw), Colour: colour(m)}
	if max(p.Width, p.Height) > maxPictureSide {
		return p, fmt.Errorf("image dimensions exceed max allowed size: %d pixels", maxPictureSide)
	}
	return p, nil
}

// colour is the mean of some points in a word.
func colour(m image.Image) string {
	const grid = 16
	var sum [3]int
	b := m.Bounds()
	for i := range grid * grid {
		r, g, bl, _ := m.At(b.Min.X+b.Dx()*(i%grid)/grid, b.Min.Y+b.Dy()*(i/grid)/grid).RGBA()
		sum[0], sum[1], sum[2] = sum[0]+int(r>>8), sum[1]+int(g>>8), sum[2]+int(bl>>8)
	}
	const half = 128 * grid * grid
	switch r, g, bl := sum[0] > half, sum[1] > half, sum[2] > half; {
	case r && g && bl:
		return "white"
	case r && g:
		return "yellow"
	case r:
		return "red"
	case g:
		return "green"
	case bl:
		return "blue"
	}
	return "black"
}

// Pictures are the pictures of all messages, in order.
func (r Request) Pictures() []Picture {
	var all []Picture
	for _, m := range r.Messages {
		all = append(all, m.Pictures...)
	}
	return all
}

// seen is the message's pictures in words.
func (m Message) seen() string {
	var words []string
	for _, p := range m.Pictures {
		words = append(words, p.String())
	}
	return strings.Join(words, ", ")
}

// readParts reads a content that is a list of parts: its texts and its pictures.
func (m *Message) readParts() error {
	if len(m.Content) == 0 || m.Content[0] != '[' {
		return nil
	}
	if m.Role != "user" {
		return fmt.Errorf("content of role %q is no string", m.Role)
	}
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return err
	}
	var texts []string
	for i, p := range parts {
		switch p.Type {
		case "text":
			if strings.TrimSpace(p.Text) == "" {
				return fmt.Errorf("content[%d].text is blank", i)
			}
			texts = append(texts, p.Text)
		case "image_url":
			head, data, ok := strings.Cut(p.Image.URL, ";base64,")
			mime, is := strings.CutPrefix(head, "data:")
			if !ok || !is {
				return fmt.Errorf("content[%d].image_url.url is no data URL", i)
			}
			picture, err := readPicture(mime, data)
			if err != nil {
				return fmt.Errorf("content[%d]: %w", i, err)
			}
			m.Pictures = append(m.Pictures, picture)
		default:
			return fmt.Errorf("content[%d].type is %q", i, p.Type)
		}
	}
	if len(m.Pictures) == 0 {
		return errors.New("content is a list without pictures; some servers take only a string")
	}
	m.Content = quoted(strings.Join(texts, "\n\n"))
	return nil
}

// Blind refuses pictures from now on with words that providers use, "" for none.
func (s *Server) Blind(words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blind = words
}

func (s *Server) refusesPictures(r Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blind == "" || len(r.Pictures()) == 0 {
		return nil
	}
	return errors.New(s.blind)
}

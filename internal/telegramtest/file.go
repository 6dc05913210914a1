package telegramtest

import (
	"bytes"
	"image"
	_ "image/jpeg" // what a photo can be
	_ "image/png"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// The limits of files: what getFile gives away, what a document and a photo may
// have, and how long the sides of a photo may be together and to each other.
const (
	maxDownload = 20 << 20
	maxDocument = 50 << 20
	maxPhoto    = 10 << 20
	maxSides    = 10_000
	maxRatio    = 20
)

// File is an uploaded file.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// AddFile makes a file known, as if a person had sent it, and returns its id.
func (s *Server) AddFile(f File) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addFile(f)
}

func (s *Server) addFile(f File) string {
	f.Name = path.Base(f.Name)
	id := "file-" + strconv.Itoa(len(s.files)+1)
	s.files[id] = f
	return id
}

// file finds or takes the file that a call sends in a field. s.mu is held.
func (s *Server) file(p params, field string, limit int) (string, *apiError) {
	name := strings.TrimPrefix(p.str(field), "attach://")
	if f, ok := p.files[field]; ok {
		name, p.files[name] = field, f
	}
	if f, ok := p.files[name]; ok {
		switch {
		case len(f.Data) == 0:
			return "", badRequest("file must be non-empty")
		case len(f.Data) > limit:
			return "", &apiError{status: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
		}
		return s.addFile(f), nil
	}
	if _, ok := s.files[name]; ok {
		return name, nil
	}
	return "", badRequest("there is no %s in the request", field)
}

// photo reports why the file cannot be a photo.
func (f File) photo() *apiError {
	width, height, ok := f.measure()
	short, long := min(width, height), max(width, height)
	switch {
	case len(f.Data) > maxPhoto:
		return badRequest("file is too big for a photo; the maximum size is %d bytes", maxPhoto)
	case !ok:
		return badRequest("IMAGE_PROCESS_FAILED")
	case short+long > maxSides, long > maxRatio*short:
		return badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// measure is the width and the height of a picture.
func (f File) measure() (width, height int, ok bool) {
	c, _, err := image.DecodeConfig(bytes.NewReader(f.Data))
	return c.Width, c.Height, err == nil && c.Width > 0 && c.Height > 0
}

// getFile says where a file can be fetched. s.mu is held.
func (s *Server) getFile(p params) (any, *apiError) {
	id := p.str("file_id")
	f, ok := s.files[id]
	switch {
	case id == "":
		return nil, badRequest("file_id not specified")
	case !ok, s.expired[id]:
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	case len(f.Data) > maxDownload:
		return nil, badRequest("file is too big")
	}
	w := f.wire(id)
	w.Name, w.Path = "", "documents/"+id
	if root := s.config.FilesRoot; root != "" {
		w.Path = filepath.Join(root, id)
		if err := os.WriteFile(w.Path, f.Data, 0o600); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	return w, nil
}

// Expire takes a file away, so that its id is not known any more.
func (s *Server) Expire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired[id] = true
}

// Downloads is the method under which the journal and faults know downloads.
const Downloads = "file"

func (f File) wire(id string) *wireDocument {
	return &wireDocument{ID: id, UniqueID: "u" + id, Name: f.Name, Size: len(f.Data)}
}

// serveFile serves /file/bot<token>/documents/<id>. The faults of Downloads hit it:
// FaultMalformed cuts the file, FaultDelay stops in its middle for a while.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, rest string) {
	token, id, _ := strings.Cut(rest, "/documents/")
	c, fault := s.begin(Downloads, params{values: map[string]string{"file_id": id}})
	s.mu.Lock()
	f, ok := s.files[id]
	s.mu.Unlock()
	if token != s.config.Token || !ok || s.expired[id] {
		s.end(c, http.StatusNotFound, s.answer(w, nil, notFound()))
		return
	}
	half := len(f.Data)
	if fault != nil {
		half /= 2
		if fault.Kind != FaultMalformed && fault.Kind != FaultDelay {
			status, answered := s.spoil(fault, w, r)
			s.end(c, status, answered)
			return
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
	// The client's going away is the client's affair.
	_, _ = w.Write(f.Data[:half])
	if fault != nil {
		_ = http.NewResponseController(w).Flush()
		if fault.Kind == FaultMalformed {
			s.end(c, http.StatusOK, false)
			panic(http.ErrAbortHandler)
		}
		s.pause(fault.Delay)
		_, _ = w.Write(f.Data[half:])
	}
	s.end(c, http.StatusOK, true)
}

// Document is the file behind a message's Document, the zero File for none.
func (s *Server) Document(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[id]
}

package telegramtest

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// maxDownload is what getFile gives away.
const maxDownload = 20 << 20

// File is an uploaded file.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// AddFile makes a file known, as if somebody had sent it, and returns its id.
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

// document finds or takes the file of a sendDocument. s.mu is held.
func (s *Server) document(p params) (string, *apiError) {
	name := strings.TrimPrefix(p.str("document"), "attach://")
	if f, ok := p.files["document"]; ok {
		name, p.files[name] = "document", f
	}
	if f, ok := p.files[name]; ok {
		if len(f.Data) == 0 {
			return "", badRequest("file must be non-empty")
		}
		return s.addFile(f), nil
	}
	if _, ok := s.files[name]; ok {
		return name, nil
	}
	return "", badRequest("there is no document in the request")
}

// getFile says where a file can be fetched. s.mu is held.
func (s *Server) getFile(p params) (any, *apiError) {
	id := p.str("file_id")
	f, ok := s.files[id]
	switch {
	case id == "":
		return nil, badRequest("file_id not specified")
	case !ok:
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	case len(f.Data) > maxDownload:
		return nil, badRequest("file is too big")
	}
	w := f.wire(id)
	w.Name, w.Path = "", "documents/"+id
	return w, nil
}

func (f File) wire(id string) *wireDocument {
	return &wireDocument{ID: id, UniqueID: "u" + id, Name: f.Name, Size: len(f.Data)}
}

// serveFile serves /file/bot<token>/documents/<id>.
func (s *Server) serveFile(w http.ResponseWriter, rest string) {
	token, id, _ := strings.Cut(rest, "/documents/")
	s.mu.Lock()
	f, ok := s.files[id]
	s.mu.Unlock()
	if token != s.config.Token || !ok {
		s.answer(w, nil, notFound())
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	// The client's going away is the client's affair.
	_, _ = w.Write(f.Data)
}

// Document is the file behind a message's Document, the zero File for none.
func (s *Server) Document(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[id]
}

package protocol

import (
	"encoding/base64"
	"fmt"
	"io"

	"klawbot/engine/internal/llm"
)

// maxPicture bounds the file of one picture.
const maxPicture = 5 << 20

// Pictures reads the pictures of a request, in base64 by their sums. Words stand for
// those that are gone in the messages that it returns.
func Pictures(r llm.Request) ([]llm.Message, map[string]string) {
	read := map[string]string{}
	for i := range llm.Pictures(r.Messages) {
		if _, done := read[i.Sum]; done {
			continue
		}
		data, err := readPicture(r, i.Sum)
		if err != nil {
			data = nil
		}
		read[i.Sum] = base64.StdEncoding.EncodeToString(data)
	}
	if len(read) == 0 {
		return r.Messages, read
	}
	return llm.ReplaceImages(r.Messages, func(i llm.Image) string {
		if read[i.Sum] != "" {
			return ""
		}
		return i.InPlace("no longer kept")
	}), read
}

func readPicture(r llm.Request, sum string) ([]byte, error) {
	if r.Open == nil {
		return nil, fmt.Errorf("picture %s: there are no files", sum)
	}
	f, err := r.Open(sum)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxPicture+1))
	if err == nil && len(data) > maxPicture {
		err = fmt.Errorf("picture %s has more than %d bytes", sum, maxPicture)
	}
	return data, err
}

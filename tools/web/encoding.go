package web

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"klawbot/tools"
	"klawbot/tools/web/load"
)

// asked is the Content-Encoding that we can undo and ask for. Some servers send
// others all the same, or say that they did.
const asked = "gzip"

// sealed are the encodings that nothing here undoes.
var sealed = []string{"br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "aes128gcm"}

// unpacked is the body of a response without its Content-Encoding. The error is for the
// model. Names that are no encoding, such as a charset, pass when the body is text.
func unpacked(resp *http.Response) (io.Reader, error) {
	encoding := strings.ToLower(load.Line(strings.Join(resp.Header.Values("Content-Encoding"), ", ")))
	if encoding == "" || encoding == "identity" {
		return resp.Body, nil
	}
	body := bufio.NewReader(resp.Body)
	start, err := body.Peek(512)
	switch {
	case len(start) == 0:
		return body, nil // nothing, or what broke off at once
	case encoding == asked && !bytes.HasPrefix(start, gzipMark) && validStart(start):
		return body, nil // a lie that does no harm
	case encoding == asked, encoding == "x-gzip":
		resp.ContentLength = -1
		return unzipped(body)
	case encoding == "deflate":
		resp.ContentLength = -1
		return inflated(body, start)
	case strings.Contains(encoding, ","), slices.Contains(sealed, encoding), !utf8.Valid(start) && (err != nil || !validStart(start)):
		return nil, fmt.Errorf("the server answered %s, compressed with %.40s, which was not asked for and cannot be read here", status(resp), tools.Visible(encoding))
	}
	return body, nil
}

// gzipMark begins what is compressed with gzip.
var gzipMark = []byte{0x1f, 0x8b}

// unzipped undoes gzip.
func unzipped(body io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(body)
	if err != nil {
		return nil, fmt.Errorf("the answer cannot be read: it should be compressed with gzip, and is not (%s)", load.Explain(err))
	}
	return z, nil
}

// inflated undoes deflate, which servers send with and without the standard's head.
func inflated(body io.Reader, start []byte) (io.Reader, error) {
	if len(start) > 1 && start[0]&0x0f == 8 && (int(start[0])<<8|int(start[1]))%31 == 0 {
		return zlib.NewReader(body)
	}
	return flate.NewReader(body), nil
}

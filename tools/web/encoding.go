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

// asked is the Content-Encoding that we ask for. Some servers send others, or say so.
const asked = "gzip"

// sealed are encodings that we cannot decode.
var sealed = []string{"br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "aes128gcm"}

// unpacked is the decoded body of a response. The error is for the model. An unknown
// encoding, such as a charset, is ignored when the body is text.
func unpacked(resp *http.Response) (io.Reader, error) {
	encoding := strings.ToLower(load.Line(strings.Join(resp.Header.Values("Content-Encoding"), ", ")))
	if encoding == "" || encoding == "identity" {
		return resp.Body, nil
	}
	body := bufio.NewReader(resp.Body)
	start, err := body.Peek(512)
	switch {
	case len(start) == 0:
		return body, nil
	case encoding == asked && !bytes.HasPrefix(start, gzipMark) && validStart(start):
		return body, nil // it is not compressed
	case encoding == asked, encoding == "x-gzip":
		resp.ContentLength = -1
		return unzipped(body)
	case encoding == "deflate":
		resp.ContentLength = -1
		return inflated(body, start)
	case strings.Contains(encoding, ","), slices.Contains(sealed, encoding), !utf8.Valid(start) && (err != nil || !validStart(start)):
		return nil, fmt.Errorf("the server answered %s, compressed with %.40s, which klawbot did not ask for and can't read", status(resp), tools.Visible(encoding))
	}
	return body, nil
}

// gzipMark begins what is compressed with gzip.
var gzipMark = []byte{0x1f, 0x8b}

// unzipped decodes gzip.
func unzipped(body io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(body)
	if err != nil {
		return nil, fmt.Errorf("can't read the answer: it is not gzip, as its header says (%s)", load.Explain(err))
	}
	return z, nil
}

// inflated decodes deflate, which servers send with and without a zlib header.
func inflated(body io.Reader, start []byte) (io.Reader, error) {
	if len(start) > 1 && start[0]&0x0f == 8 && (int(start[0])<<8|int(start[1]))%31 == 0 {
		return zlib.NewReader(body)
	}
	return flate.NewReader(body), nil
}

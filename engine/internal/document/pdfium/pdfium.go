// Package pdfium reads and draws PDFs with the PDFium library. It loads the library from
// a file when the first document is opened, so the program works without it.
//
// A foreign file may crash the library, and a process that has loaded it. So only the
// child process of package confined opens documents. The library is for one thread at a
// time: so is this package.
package pdfium

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

// The functions of the library, as its headers fpdfview.h, fpdf_text.h and fpdf_flatten.h
// declare them.
#define FUNCTIONS(F) \
	F(void, FPDF_InitLibrary, (void)) \
	F(void *, FPDF_LoadDocument, (const char *file, const char *password)) \
	F(unsigned long, FPDF_GetLastError, (void)) \
	F(int, FPDF_GetPageCount, (void *document)) \
	F(void *, FPDF_LoadPage, (void *document, int index)) \
	F(int, FPDFPage_Flatten, (void *page, int flag)) \
	F(float, FPDF_GetPageWidthF, (void *page)) \
	F(float, FPDF_GetPageHeightF, (void *page)) \
	F(void, FPDF_ClosePage, (void *page)) \
	F(void *, FPDFText_LoadPage, (void *page)) \
	F(int, FPDFText_CountChars, (void *text)) \
	F(int, FPDFText_GetText, (void *text, int start, int count, unsigned short *result)) \
	F(unsigned, FPDFText_GetUnicode, (void *text, int index)) \
	F(int, FPDFText_GetCharOrigin, (void *text, int index, double *x, double *y)) \
	F(void, FPDFText_ClosePage, (void *text)) \
	F(void *, FPDFBitmap_CreateEx, (int width, int height, int format, void *first, int stride)) \
	F(int, FPDFBitmap_FillRect, (void *bitmap, int left, int top, int width, int height, unsigned long color)) \
	F(void, FPDF_RenderPageBitmap, (void *bitmap, void *page, int x, int y, int width, int height, int rotate, int flags)) \
	F(void, FPDFBitmap_Destroy, (void *bitmap))

#define DECLARE(result, name, arguments) static result (*name) arguments;
FUNCTIONS(DECLARE)

// load returns what is missing, NULL for nothing.
static const char *load(const char *file) {
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
#define FIND(result, name, arguments) if (!(*(void **)&name = dlsym(library, #name))) return #name;
	FUNCTIONS(FIND)
	FPDF_InitLibrary();
	return NULL;
}

static void *open_document(const char *file, unsigned long *fault) {
	void *document = FPDF_LoadDocument(file, NULL);
	*fault = document ? 0 : FPDF_GetLastError();
	return document;
}

static int count_pages(void *document) { return FPDF_GetPageCount(document); }

// load_page loads a page whose annotations and fields of forms are a part of it.
static void *load_page(void *document, int index) {
	void *page = FPDF_LoadPage(document, index);
	if (page && FPDFPage_Flatten(page, 0) == 1) { // 1: it has changed
		FPDF_ClosePage(page);
		page = FPDF_LoadPage(document, index);
	}
	return page;
}

// from_right reports whether a letter is Hebrew or Arabic, or of their presentation forms.
static int from_right(unsigned c) {
	return (c >= 0x590 && c < 0x900) || (c >= 0xFB1D && c < 0xFE00) || (c >= 0xFE70 && c < 0xFF00);
}

static double at(void *text, int index) {
	double x = 0, y;
	return FPDFText_GetCharOrigin(text, index, &x, &y) ? x : 0;
}

// right_to_left writes a text again, with the words of Hebrew and Arabic in their order: the
// library mirrors those that Chromium has written. It returns the number of units.
static int right_to_left(void *text, int count, unsigned short *result) {
	int units = 0;
	for (int first = 0, end; first < count; first = end) {
		for (end = first; end < count && from_right(FPDFText_GetUnicode(text, end)); end++);
		int mirrored = end - first > 1 && at(text, first) < at(text, end - 1);
		if (end == first)
			end++;
		for (int i = first; i < end; i++) {
			unsigned c = FPDFText_GetUnicode(text, mirrored ? first + end - 1 - i : i);
			if (c >= 0x10000 && c < 0x110000) {
				result[units++] = 0xD800 + ((c - 0x10000) >> 10);
				c = 0xDC00 + (c & 0x3FF);
			}
			if (c)
				result[units++] = c;
		}
	}
	result[units] = 0;
	return units;
}

// page_text returns the text of a page in UTF-16, NULL for a page that cannot be read; the
// caller frees it. *count is how many units it has, more than most for too many.
static unsigned short *page_text(void *document, int index, int most, int *count) {
	unsigned short *result = NULL;
	void *page = load_page(document, index), *text = page ? FPDFText_LoadPage(page) : NULL;
	if (text) {
		*count = FPDFText_CountChars(text);
		int room = *count > most || *count < 0 ? 0 : *count;
		result = calloc(2 * (size_t)room + 2, sizeof *result); // some characters have two units
		if (result && room > 0) {
			*count = FPDFText_GetText(text, 0, room, result);
			int i = 0;
			while (i < *count && !from_right(result[i]))
				i++;
			if (i < *count)
				*count = right_to_left(text, room, result);
		}
		FPDFText_ClosePage(text);
	}
	if (page)
		FPDF_ClosePage(page);
	return result;
}

static int page_size(void *document, int index, float *width, float *height) {
	void *page = FPDF_LoadPage(document, index);
	if (!page)
		return 0;
	*width = FPDF_GetPageWidthF(page);
	*height = FPDF_GetPageHeightF(page);
	FPDF_ClosePage(page);
	return 1;
}

// draw_page draws into pixels of one byte (gray) or four (red, green, blue, unused).
static int draw_page(void *document, int index, int width, int height, int gray, void *pixels) {
	void *page = load_page(document, index);
	void *bitmap = page ? FPDFBitmap_CreateEx(width, height, gray ? 1 : 3, pixels, width * (gray ? 1 : 4)) : NULL;
	if (bitmap) {
		FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF);
		// Annotations, and shades of gray or bytes in the order of red, green, blue.
		FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, 0x01 | (gray ? 0x08 : 0x10));
		FPDFBitmap_Destroy(bitmap);
	}
	if (page)
		FPDF_ClosePage(page);
	return bitmap != NULL;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unicode/utf16"
	"unsafe"
)

// What is wrong.
var (
	ErrLibrary = errors.New("the PDFium library cannot be loaded")

	ErrLocked = errors.New("the PDF needs a password")
	ErrBroken = errors.New("the PDF is damaged, or none")
	ErrLong   = errors.New("the page has too much text")
)

// Path is the place of the library in a folder of assets.
func Path() string {
	if runtime.GOOS == "darwin" {
		return "documents/libpdfium.dylib"
	}
	return "documents/libpdfium.so"
}

// Find is the file of the library in the first of the folders of assets that has it, ""
// for none.
func Find(dirs []string) string {
	for _, dir := range dirs {
		file := filepath.Join(dir, filepath.FromSlash(Path()))
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// Document is an open PDF. Its pages begin at 1. It stays open until the process ends.
type Document struct {
	handle unsafe.Pointer
	// Pages is how many there are.
	Pages int
}

// loaded says that the library is there.
var loaded bool

// open is Open, however long it takes.
func open(library, file string) (*Document, error) {
	if !loaded {
		name := C.CString(library)
		defer C.free(unsafe.Pointer(name))
		if missing := C.load(name); missing != nil {
			return nil, fmt.Errorf("%w: %s", ErrLibrary, C.GoString(missing))
		}
		loaded = true
	}
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	var fault C.ulong
	handle := C.open_document(name, &fault)
	const password, security = 4, 5 // of FPDF_GetLastError
	switch {
	case fault == password, fault == security:
		return nil, ErrLocked
	case handle == nil:
		return nil, ErrBroken
	}
	return &Document{handle, int(C.count_pages(handle))}, nil
}

// text is the text of a page, ErrLong if it has more than most characters.
func (d *Document) text(page, most int) (string, error) {
	var count C.int
	text := C.page_text(d.handle, C.int(page-1), C.int(most), &count)
	if text == nil {
		return "", ErrBroken
	}
	defer C.free(unsafe.Pointer(text))
	switch {
	case int(count) > most:
		return "", ErrLong
	case count <= 0:
		return "", nil
	}
	units := unsafe.Slice((*uint16)(unsafe.Pointer(text)), int(count)) // with the zero at its end
	if units[count-1] == 0 {
		units = units[:count-1]
	}
	return string(utf16.Decode(units)), nil
}

// size is the size of a page in points, 72 an inch.
func (d *Document) size(page int) (width, height float64, err error) {
	var w, h C.float
	if C.page_size(d.handle, C.int(page-1), &w, &h) == 0 {
		return 0, 0, ErrBroken
	}
	return float64(w), float64(h), nil
}

// draw draws a page into pixels of one byte (gray), or of four: red, green, blue, unused.
func (d *Document) draw(page, width, height int, gray bool, pixels []byte) error {
	shades := C.int(0)
	if gray {
		shades = 1
	}
	if C.draw_page(d.handle, C.int(page-1), C.int(width), C.int(height), shades, unsafe.Pointer(&pixels[0])) == 0 {
		return ErrBroken
	}
	return nil
}

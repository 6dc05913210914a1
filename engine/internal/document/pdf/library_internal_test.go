package pdf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/document/pdfium"
)

// TestLibraryThatMayNotRun: on a disk without programs, another download is no help.
func TestLibraryThatMayNotRun(t *testing.T) {
	for why, help := range map[string]string{
		"file too short": "assets pull",
		"failed to map segment from shared object": "noexec",
	} {
		fault, is := errors.AsType[*confined.Fault](libraryFault(fmt.Errorf("%w: /data/libpdfium.so: %s", pdfium.ErrLibrary, why)))
		if !is || fault.Kind != confined.NoReader || !strings.Contains(fault.Detail, help) {
			t.Errorf("%s: %+v", why, fault)
		}
	}
}

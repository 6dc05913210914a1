package data

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"klawbot/engine/internal/document/pdfium"
	"klawbot/engine/internal/embed"
)

// pdfiumVersion is the release of the package pypdfium2 that the library comes from: its
// wheels hold PDFium 159.0.8149 (BSD-3-Clause, Apache-2.0) and the licenses of its parts.
const pdfiumVersion = "5.15.2"

// pdfiumWheels are the wheels with the library, and the library, by system and processor.
var pdfiumWheels = map[string]struct {
	place, system string
	size          int64
	wheel         string // SHA-256
	library       string // SHA-256
}{
	"linux/amd64": {"c8/e5/2e668bc1bc6fe22f9006694b5571a2dd2c9b874d6a21d16ee839c8f7f6ea", "manylinux_2_17_x86_64.manylinux2014_x86_64", 4_020_833,
		"dc31aea5b0fb9fefc9b537a65f4113980b2c40798445736a7e6565bc85161e37", "c76dc0f7839644bfa7c3e3107a6068df714e339c861bb7d4519907b821d427f9"},
	"linux/arm64": {"03/1f/7a18e64c50049dce8512239bcdb9f8469d0a0c352dd42ae85b6b01d143f8", "manylinux_2_17_aarch64.manylinux2014_aarch64", 3_887_212,
		"dd46e93c0c3a73f6cea8489baff6d77a5d0759dd53fbbce0aeb49c91830176fc", "4378615ad9710397c96c112611be9018629bbfe38805d91a2663a534b99c28ca"},
	"darwin/arm64": {"e7/bb/bf88a781a53c905022b25b2d1fb742c908f86b8076403471f626cc41a508", "macosx_13_0_arm64", 3_710_813,
		"e71fe832e94421ac3c28d6a6ed4a9e61f22417089652d339f391c4ffc2a44c35", "5574cd4164a1317bc6b2f3168a4f433ca84561aa1b33f570422ce20f199d3765"},
	"darwin/amd64": {"09/de/9e7eda3ee1c00228d72f7fc53a370d76eed51fe5fea25debc428ac684e35", "macosx_13_0_x86_64", 3_940_099,
		"7f296a298074d76fb7c3d1ecb80d7097a96778bf0ad9c5c48a0170e56e2c6821", "967a413d03dde793455ed9f9ecb29b7fec6da846166ecd5b43e0bc3ddb4d9be2"},
}

// PDFiumPackage names the package that has the library, as pip takes it.
const PDFiumPackage = "pypdfium2==" + pdfiumVersion

// licenses is the file with the licenses of the library, beside it.
const licenses = "documents/LICENSES.txt"

// pdfiumAssets are the wheel, and what of it stays.
func pdfiumAssets(system, processor string) (wheel embed.Asset, kept []embed.Asset, err error) {
	w, ok := pdfiumWheels[system+"/"+processor]
	if !ok {
		return embed.Asset{}, nil, fmt.Errorf("no PDFium is published for %s/%s; install poppler-utils", system, processor)
	}
	return embed.Asset{
			Path: "documents/pypdfium2.whl", Size: w.size, Hashes: []string{w.wheel},
			URL: "https://files.pythonhosted.org/packages/" + w.place + "/pypdfium2-" + pdfiumVersion + "-py3-none-" + w.system + ".whl",
		}, []embed.Asset{
			{Path: licenses}, // the library last: it is what readers look for
			{Path: pdfium.Path(), Hashes: []string{w.library}},
		}, nil
}

// PullDocuments downloads the PDFium library, which reads PDFs, and checks it. What is
// there is not downloaded again. p.From may also be the wheel of the package.
func PullDocuments(ctx context.Context, p AssetPull) (err error) {
	wheel, kept, err := pdfiumAssets(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err
	}
	pull := embed.Pull{Client: p.HTTP, Dir: p.Dir, From: p.From, Patience: p.Patience, Progress: p.sized()}
	file := ""
	switch {
	case kept[0].Check(p.Dir) == nil && kept[1].Check(p.Dir) == nil: // Bring says so
	case isWheel(p.From):
		file = p.From
	case p.From == "":
		if err := pull.Bring(ctx, wheel); err != nil {
			return err
		}
		file = filepath.Join(p.Dir, filepath.FromSlash(wheel.Path))
		defer func() { err = errors.Join(err, os.Remove(file)) }()
	}
	if file != "" {
		dir, err := unpackWheel(file, pdfiumAndLicenses)
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system removes what is left
		pull.From, pull.Progress = dir, nil
	}
	if kept[1].Check(p.Dir) != nil { // what is there may be the licenses of another version
		_ = os.Remove(filepath.Join(p.Dir, filepath.FromSlash(licenses))) // as a rule it is not there
	}
	for _, a := range kept {
		if err := pull.Bring(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// isWheel reports whether a place is the file of a package of Python.
func isWheel(from string) bool {
	return filepath.Ext(from) == ".whl" && !strings.Contains(from, "://")
}

// pdfiumAndLicenses takes the library out of a wheel of pypdfium2, and its licenses into one
// file.
func pdfiumAndLicenses(wheel *zip.ReadCloser, dir string) error {
	library := filepath.FromSlash(pdfium.Path())
	if err := unpackMember(wheel, "pypdfium2_raw/"+filepath.Base(library), filepath.Join(dir, library)); err != nil {
		return err
	}
	return joinLicenses(wheel, filepath.Join(dir, filepath.FromSlash(licenses)))
}

// joinLicenses puts the licenses of a wheel into one file, each below its name.
func joinLicenses(archive *zip.ReadCloser, target string) error {
	var all strings.Builder
	for _, f := range archive.File {
		_, name, is := strings.Cut(f.Name, ".dist-info/licenses/")
		if !is || f.FileInfo().IsDir() {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(in, 1<<20))
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
		fmt.Fprintf(&all, "==== %s\n\n%s\n\n", name, text)
	}
	if all.Len() == 0 {
		return errors.New("it has no licenses")
	}
	return os.WriteFile(target, []byte(all.String()), 0o600)
}

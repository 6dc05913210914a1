package data

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/transcribe"
	"klawbot/engine/internal/voice"
)

// SpeechModel is the name of the speech model for this machine.
const SpeechModel = transcribe.Model

// PullSpeech downloads the speech model and the ONNX Runtime library, and checks each
// file. Complete files are not downloaded again. p.From may also be the wheel of the
// package moonshine-voice, which holds the model.
func PullSpeech(ctx context.Context, p AssetPull) error {
	needed, err := transcribe.Needed()
	if err != nil {
		return err
	}
	pull := embed.Pull{Client: p.HTTP, Dir: p.Dir, From: p.From, Patience: p.Patience, Progress: p.sized()}
	wheel := isWheel(p.From)
	if wheel {
		dir, err := unpackWheel(p.From, speechModel)
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system removes what is left
		pull.From = dir
	}
	for _, a := range needed {
		from := pull
		if wheel && a.Path == embed.LibraryName() {
			from.From = "" // a wheel has another build
		}
		if err := from.Bring(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// VoiceLanguages are the languages that PullVoice knows a voice for.
func VoiceLanguages() []string { return voice.Languages }

// PullVoice downloads the voice of a language, p.Model, and the ONNX Runtime library, and
// checks each file. Complete files are not downloaded again.
func PullVoice(ctx context.Context, p AssetPull) error {
	needed, err := voice.Needed(p.Model)
	if err != nil {
		return err
	}
	pull := embed.Pull{Client: p.HTTP, Dir: p.Dir, From: p.From, Patience: p.Patience, Progress: p.sized()}
	for _, a := range needed {
		if err := pull.Bring(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// sized tells the progress; where a server does not say how long a file is, its known size
// counts.
func (p AssetPull) sized() func(a embed.Asset, done, total int64) {
	if p.Progress == nil {
		return nil
	}
	return func(a embed.Asset, done, total int64) { p.Progress(a.Path, done, max(total, a.Size)) }
}

// speechModel takes the model out of the wheel of moonshine-voice.
func speechModel(wheel *zip.ReadCloser, dir string) error {
	for _, name := range transcribe.Files() {
		if err := unpackMember(wheel, "moonshine_voice/assets/tiny-en/"+filepath.Base(name), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// unpackWheel has what is needed taken out of a wheel into a directory, as a directory of
// assets has it. The caller removes the directory.
func unpackWheel(file string, take func(wheel *zip.ReadCloser, dir string) error) (dir string, err error) {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	defer func() { _ = archive.Close() }() // it was only read
	if dir, err = os.MkdirTemp("", "klawbot-wheel-"); err != nil {
		return "", err
	}
	if err := take(archive, dir); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", file, err), os.RemoveAll(dir))
	}
	return dir, nil
}

// mostMember bounds a file of a wheel.
const mostMember = 256 << 20

func unpackMember(archive *zip.ReadCloser, name, target string) (err error) {
	in, err := archive.Open(name)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	out, err := os.Create(target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, io.LimitReader(in, mostMember))
	return err
}

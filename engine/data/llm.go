package data

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"klawbot/engine/health"
	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/localmodel"
)

// LocalModel is a language model that klawbot knows how to run on this machine.
type LocalModel = localmodel.Entry

// LocalModels are those that are known by name, the preferred one first.
func LocalModels() []LocalModel { return localmodel.Catalog() }

// FindLocalModel finds one by its name. The error names the others.
func FindLocalModel(name string) (LocalModel, error) { return localmodel.Lookup(name) }

// PullLocalModel downloads a model, and llama.cpp where no llama-server is installed.
func PullLocalModel(ctx context.Context, p AssetPull, m LocalModel) error {
	files := embed.Pull{Client: p.HTTP, Dir: p.Dir, From: p.From, Patience: p.Patience}
	if p.Progress != nil {
		files.Progress = func(a embed.Asset, done, total int64) { p.Progress(a.Path, done, max(total, a.Size)) }
	}
	pull := localmodel.Pull{Files: files}
	if err := pull.Model(ctx, m); err != nil {
		return err
	}
	err := pull.Program(ctx)
	if _, installed := exec.LookPath("llama-server"); installed == nil {
		return nil
	}
	return err
}

// PulledModels are the models that are on this machine and can run.
func PulledModels(dataDir string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dataDir, "assets", "llm", "*", "model.gguf"))
	if err != nil {
		return nil
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if localmodel.Check(localmodel.Find(dataDir, "", name)) == nil {
			names = append(names, name)
		}
	}
	return names
}

// FittingModel is the preferred model that this machine has the memory, the disk and
// the processors for.
func FittingModel(dataDir string) (m LocalModel, ok bool) {
	if runtime.NumCPU() < 2 {
		return m, false
	}
	for _, m := range localmodel.Catalog() {
		if free, err := health.FreeSpace(existing(dataDir)); err == nil && free > uint64(m.Bytes)*11/10 && m.Fits() == nil {
			return m, true
		}
	}
	return m, false
}

// existing is the folder, or the nearest one above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

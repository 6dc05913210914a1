package data

import (
	"context"
	"os/exec"

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

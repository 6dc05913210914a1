package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClientsAreMadeInOnePlace reads the whole program: only internal/httpclient
// makes clients of HTTP, so that none goes without its guard, and none uses
// the ones that the standard library has ready.
func TestClientsAreMadeInOnePlace(t *testing.T) {
	forbidden := []string{"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "ProxyFromEnvironment"}
	seen := 0
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		if strings.HasPrefix(name, "internal/httpclient/") || strings.Contains(name, "test/") || strings.HasPrefix(name, "build/") {
			return nil // the one place, the servers of tests, and what is no source
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if star, is := n.(*ast.StarExpr); is && selects(star.X) != "" {
				return false // a parameter of the type is fine
			}
			if use := selects(n); slices.Contains(forbidden, use) {
				t.Errorf("%s uses http.%s; take a client from internal/httpclient", name, use)
			}
			seen++
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10_000 {
		t.Errorf("only %d nodes were read", seen)
	}
}

// selects is what a node takes of package http, or "".
func selects(n ast.Node) string {
	s, is := n.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	if x, is := s.X.(*ast.Ident); !is || x.Name != "http" {
		return ""
	}
	return s.Sel.Name
}

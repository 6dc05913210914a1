package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCalmPackages: make test leaves the race detector out only for packages that start
// no goroutine.
func TestCalmPackages(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^CALM := ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list CALM")
	}
	for dir := range strings.FieldsSeq(strings.ReplaceAll(string(list[1]), `\`, "")) {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no files, %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine", name)
				case *ast.SelectorExpr:
					if n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc" {
						t.Errorf("%s starts a goroutine by %s", name, n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

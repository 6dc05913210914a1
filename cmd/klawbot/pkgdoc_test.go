package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackageComments wants exactly one package comment in every package and a
// comment on every exported name.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", path), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		comments[filepath.Dir(path)] += 0
		if f.Doc != nil {
			comments[filepath.Dir(path)]++
		}
		for _, decl := range f.Decls {
			if name := undocumented(decl); name != "" {
				t.Errorf("%s: %s has no comment", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments, want 1", dir, n)
		}
	}
}

// undocumented names an exported function or type without a comment. Methods
// that an interface documents (Error, Unwrap, String) need none.
func undocumented(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		switch {
		case !d.Name.IsExported() || d.Doc != nil:
		case d.Recv != nil && unexportedReceiver(d.Recv):
		case d.Recv != nil && (d.Name.Name == "Error" || d.Name.Name == "Unwrap" || d.Name.Name == "String"):
		default:
			return d.Name.Name
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				return s.Name.Name
			}
		}
	}
	return ""
}

func unexportedReceiver(recv *ast.FieldList) bool {
	expr := recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	id, ok := expr.(*ast.Ident)
	return ok && !id.IsExported()
}

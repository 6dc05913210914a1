package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bounds that hold for every package and type of the program.
const (
	maxLines   = 3000
	maxMethods = 40
	maxFields  = 20
)

// largePackages may have more lines than maxLines: all of SQL, and all commands.
var largePackages = []string{"engine/internal/store", "cmd/klawbot"}

// largeTypes are the types above these bounds: how many methods and fields they may
// have today. Their figures only fall; a row goes when its type has shrunk.
var largeTypes = map[string]typeSize{
	"engine/internal/store.Job": {1, 23}, // a row of a table
}

// TestBudgets keeps every package within its lines, and every type within the bounds
// of methods and fields. To raise a figure, edit a table here or in imports_test.go
// and give the reason in the commit.
func TestBudgets(t *testing.T) {
	total := 0
	for name, p := range readPackages(t) {
		rule := allowed[name] // TestImports reports packages without a row
		if rule.lines == 0 {
			continue
		}
		total += p.lines
		if p.lines > rule.lines {
			t.Errorf("package %s has %d lines, its budget is %d: make it simpler or split it", name, p.lines, rule.lines)
		}
		if rule.lines > maxLines && !slices.Contains(largePackages, name) {
			t.Errorf("the budget of package %s is %d lines, at most %d are allowed: split it", name, rule.lines, maxLines)
		}
		for _, typ := range slices.Sorted(maps.Keys(p.types)) {
			most := typeSize{maxMethods, maxFields}
			if large, ok := largeTypes[name+"."+typ]; ok {
				most = large
			}
			if has := p.types[typ]; has.methods > most.methods || has.fields > most.fields {
				t.Errorf("%s.%s has %d methods and %d fields, at most %d and %d are allowed", name, typ, has.methods, has.fields, most.methods, most.fields)
			}
		}
	}
	if total > maxTotal {
		t.Errorf("the program has %d lines, at most %d are allowed", total, maxTotal)
	}
	t.Logf("the program has %d lines", total)
}

type typeSize struct{ methods, fields int }

type packageSize struct {
	lines int
	types map[string]typeSize
}

// readPackages measures the Go files of every package but its tests.
func readPackages(t *testing.T) map[string]*packageSize {
	t.Helper()
	const root = "../.."
	all := map[string]*packageSize{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "build", "bin"}, name)):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := filepath.ToSlash(folder)
		if all[name] == nil {
			all[name] = &packageSize{types: map[string]typeSize{}}
		}
		return all[name].read(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (p *packageSize) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p.lines += bytes.Count(text, []byte("\n"))
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if name := receiver(n); name != "" {
				size := p.types[name]
				size.methods++
				p.types[name] = size
			}
			return false
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				size := p.types[n.Name.Name]
				size.fields = s.Fields.NumFields()
				p.types[n.Name.Name] = size
			}
		}
		return true
	})
	return nil
}

// receiver is the name of a method's type, "" for a function.
func receiver(f *ast.FuncDecl) (name string) {
	if f.Recv == nil {
		return ""
	}
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

//go:build sqlite_fts5

package sqlite

import vec "github.com/asg017/sqlite-vec-go-bindings/cgo"

// loadVec makes vec0 tables available on every connection opened after it.
func loadVec() { vec.Auto() }

//go:build !sqlite_fts5

package sqlite

// klawbot is built with make, which sets the build tag sqlite_fts5 and the C
// flags of sqlite-vec. A plain go build stops here, on this name.
var _ = run_make_build_instead_of_go_build

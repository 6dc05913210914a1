//go:build !sandbox

package sandbox_test

import "klawbot/tools/sandbox"

// tested are the sandboxes that every test of them runs in. With the build tag
// sandbox docker is one of them (make sandbox).
var tested = []string{sandbox.TypeLandlock, sandbox.TypeBwrap}

package git

import (
	"net/http"
	"net/http/httptest"
	osexec "os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// TestGitFollowsNoRedirect: a server must not lead git to an address that the model
// may not name. No server of this machine can be named in a call, so git is started
// with a call's own words.
func TestGitFollowsNoRedirect(t *testing.T) {
	var asked atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer inside.Close()
	outside := httptest.NewServer(http.RedirectHandler(inside.URL+"/x.git/info/refs?service=git-upload-pack", http.StatusFound))
	defer outside.Close()
	c := call{action: "fetch", operands: []string{outside.URL + "/x.git"}}
	argv := c.argv(hardening)
	git := osexec.Command(argv[0], argv[1:]...)
	git.Dir = t.TempDir()
	if out, err := osexec.Command("git", "-C", git.Dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := git.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "302") {
		t.Errorf("%v: %s", err, out)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the server inside was asked %d times", n)
	}
}

package seccomp

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// TestKafelRefusesSameCalls reads the policy as nsjail does: which calls fail with
// which number.
func TestKafelRefusesSameCalls(t *testing.T) {
	policy, err := Kafel()
	if err != nil {
		t.Fatal(err)
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		errno unix.Errno
		names []string
	}{{unix.ENOSYS, absent}, {unix.EPERM, forbidden}} {
		block := regexp.MustCompile(fmt.Sprintf(`ERRNO\(%d\) \{ ([^{}]*)`, int(tt.errno))).FindStringSubmatch(policy)
		if block == nil {
			t.Fatalf("no call fails with %v: %s", tt.errno, policy)
		}
		for _, name := range tt.names {
			number, there := info.SyscallNames[name]
			if there && !slices.Contains(strings.Split(strings.TrimSpace(block[1]), ", "), "SYSCALL["+strconv.Itoa(number)+"]") {
				t.Errorf("%s does not fail with %v: %s", name, tt.errno, block[1])
			}
		}
	}
	clone := fmt.Sprintf("SYSCALL[%d](flags) { (flags & %#x) != 0 }", info.SyscallNames["clone"], newNamespaces)
	if !strings.Contains(policy, clone) || !strings.HasSuffix(policy, " DEFAULT ALLOW") {
		t.Errorf("clone may make namespaces: %s", policy)
	}
}

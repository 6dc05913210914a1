package bot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCloseOff runs itself as another process, which closes itself off and says
// so; then it looks into that process as a command of the bot could.
func TestCloseOff(t *testing.T) {
	const key = "KLAWBOT_TEST_KEY"
	if value, is := os.LookupEnv(key); is {
		if err := closeOff(func(v string) bool { return v == value }); err != nil {
			t.Fatal(err)
		}
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		fmt.Println("dumpable", dumpable, err, os.Getenv(key))
		_, _ = io.Copy(io.Discard, os.Stdin) // until the other one has looked
		return
	}
	const secret, harmless = "a-key-that-nobody-may-see", "anybody-may-see-this"
	c := exec.Command(os.Args[0], "-test.run=^TestCloseOff$")
	c.Env = append(os.Environ(), key+"="+secret, "KLAWBOT_TEST_OTHER="+harmless)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = c.Wait() // what it said counts
	}()
	// The process itself goes on with its key.
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "dumpable 0 <nil> "+secret+"\n" {
		t.Fatalf("it says %q, %v", line, err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.Process.Pid))
	if errors.Is(err, os.ErrPermission) {
		return // only root may look
	}
	if strings.Contains(string(text), secret) || !strings.Contains(string(text), key+"=\x00") || !strings.Contains(string(text), harmless) || err != nil {
		t.Errorf("the environment shows %q, %v", text, err)
	}
}

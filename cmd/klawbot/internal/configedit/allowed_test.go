package configedit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/internal/redact"
)

func TestEditAllowed(t *testing.T) {
	for _, c := range []struct {
		name        string
		text        string
		add, remove []int64
		want        string
	}{
		{"empty list",
			"# top\n\nchannels:\n  telegram:\n    token: x:y   # keep\n    allowedChatIds: []          # 123, empty: nobody\n    streaming: edit\n",
			[]int64{-100123, 5}, nil,
			"# top\n\nchannels:\n  telegram:\n    token: x:y   # keep\n    allowedChatIds: [-100123, 5]          # 123, empty: nobody\n    streaming: edit\n"},
		{"flow list", "channels: {telegram: {allowedChatIds: [1, \"telegram_2\" , 3], streaming: off}}\n",
			[]int64{4, 1}, []int64{2},
			"channels: {telegram: {allowedChatIds: [1, 3, 4], streaming: off}}\n"},
		{"first and last", "channels: {telegram: {allowedChatIds: [1, 2, 3]}}\n", nil, []int64{1, 3},
			"channels: {telegram: {allowedChatIds: [2]}}\n"},
		{"block list", "channels:\n  telegram:\n    allowedChatIds:\n      # family\n      - 1   # Anna\n\n      - -22 # Böb\n    streaming: edit # ü\n",
			[]int64{3}, []int64{1},
			"channels:\n  telegram:\n    allowedChatIds:\n      # family\n\n      - -22 # Böb\n      - 3\n    streaming: edit # ü\n"},
		{"last of a block", "channels:\n  telegram:\n    allowedChatIds:\n    - 1 # Anna\n", nil, []int64{1},
			"channels:\n  telegram:\n    allowedChatIds:\n    [] # Anna\n"},
		{"no line break at the end", "channels:\n  telegram:\n    allowedChatIds:\n    - 1", []int64{2}, nil,
			"channels:\n  telegram:\n    allowedChatIds:\n    - 1\n    - 2"},
		{"one without a list", "channels:\n  telegram:\n    allowedChatIds: 1 # me\n", []int64{2}, nil,
			"channels:\n  telegram:\n    allowedChatIds: [1, 2] # me\n"},
		{"null", "channels:\n  telegram:\n    allowedChatIds: # nobody\n    streaming: edit\n", []int64{2}, nil,
			"channels:\n  telegram:\n    allowedChatIds: [2] # nobody\n    streaming: edit\n"},
		{"null at the end", "channels:\n  telegram:\n    allowedChatIds:", []int64{2}, nil,
			"channels:\n  telegram:\n    allowedChatIds: [2]"},
		{"missing key", "channels:\n  # ours\n  telegram:\n      # the token\n      token: x:y\nlog: {}\n", []int64{2}, nil,
			"channels:\n  # ours\n  telegram:\n      allowedChatIds: [2]\n      # the token\n      token: x:y\nlog: {}\n"},
		{"missing key in flow", "channels: {telegram: {token: x:y}}\n", []int64{2}, nil,
			"channels: {telegram: {allowedChatIds: [2], token: x:y}}\n"},
		{"missing section", "channels:\n  console: {enabled: true}\n", []int64{2}, nil,
			"channels:\n  telegram:\n    allowedChatIds: [2]\n  console: {enabled: true}\n"},
		{"missing all", "# mine\nlog: {level: debug}", []int64{2}, nil,
			"# mine\nlog: {level: debug}\nchannels:\n  telegram:\n    allowedChatIds: [2]\n"},
		{"empty file", "", []int64{2}, nil, "channels:\n  telegram:\n    allowedChatIds: [2]\n"},
		{"there twice", "channels: {telegram: {allowedChatIds: [1, 1, 2]}}\n", nil, []int64{1},
			"channels: {telegram: {allowedChatIds: [2]}}\n"},
		{"windows line ends", "channels:\r\n  telegram:\r\n    allowedChatIds: [1]\r\n", []int64{2}, nil,
			"channels:\r\n  telegram:\r\n    allowedChatIds: [1, 2]\r\n"},
		{"windows line ends and comments", "# ours\r\nchannels: # all\r\n  telegram:\r\n    # us\r\n    allowedChatIds:\r\n    - 1 # me\r\n", []int64{2}, nil,
			"# ours\r\nchannels: # all\r\n  telegram:\r\n    # us\r\n    allowedChatIds:\r\n    - 1 # me\r\n    - 2\r\n"},
		{"windows line ends and no list", "#\r\n#", []int64{2}, nil,
			"#\r\n#\r\nchannels:\r\n  telegram:\r\n    allowedChatIds: [2]\r\n"},
		{"byte order mark", "\ufeffchannels: {telegram: {allowedChatIds: [1]}}\n", []int64{2}, []int64{1},
			"\ufeffchannels: {telegram: {allowedChatIds: [2]}}\n"},
		{"written null", "channels: {telegram: {allowedChatIds: ~}}\n", []int64{2}, nil,
			"channels: {telegram: {allowedChatIds: [2]}}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := editAllowed([]byte(c.text), c.add, c.remove)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditRefusesUnknownNotation(t *testing.T) {
	for _, text := range []string{
		"channels: {telegram: {allowedChatIds: \"${IDS}\"}}\n",
		"channels: {telegram: {allowedChatIds: {a: 1}}}\n",
		"channels: [1]\n",
		"a: [\n",
	} {
		if got, err := editAllowed([]byte(text), []int64{5}, nil); err == nil {
			t.Errorf("%q became %q, want an error", text, got)
		}
	}
}

func TestReplaceFileKeepsModeLinkAndBackup(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{link: "new", target: "new", target + ".bak": "old"} {
		text, err := os.ReadFile(name)
		if err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v, want %q", name, text, err, want)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v, want 0600", name, info.Mode(), err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
}

func FuzzEditAllowed(f *testing.F) {
	f.Add("channels:\n  telegram:\n    allowedChatIds: [1, 2]\n", int64(3), int64(1))
	f.Add("channels:\n  telegram:\n    allowedChatIds:\n    - 1\n    - 2", int64(3), int64(2))
	f.Add("channels: &a\n  telegram: {}\n", int64(3), int64(1))
	f.Add("\xef\xbb\xbfé: \"\"\r\n", int64(3), int64(1))
	f.Add("\r0:", int64(-26), int64(-71))
	f.Add("z\r0:", int64(-26), int64(-157))
	f.Add("\n#\r\n", int64(-85), int64(7))
	f.Add("#\r\n{}", int64(-85), int64(7))
	f.Add("\ufeffchannels: # é\r\n \ttelegram: {allowedChatIds:\r\n [1, \"7\"]}", int64(3), int64(7))
	f.Fuzz(func(t *testing.T, text string, add, remove int64) {
		old, err := config.Source{File: "config.yaml", Redact: &redact.Set{}}.Parse([]byte(text))
		if err != nil || add == remove || add == 0 || strings.Contains(text, "${") {
			return
		}
		_, changed, err := provenAllowed(config.Source{File: "config.yaml"}, []byte(text), []int64{add}, []int64{remove})
		if err != nil {
			return
		}
		now, err := config.Source{File: "config.yaml", Redact: &redact.Set{}}.Parse(changed)
		if err != nil {
			t.Fatal(err)
		}
		list := now.Channels.Telegram.AllowedChatIDs
		if !slices.Contains(list, add) || slices.Contains(list, remove) {
			t.Errorf("list is %v after adding %d and removing %d", list, add, remove)
		}
		old.Channels.Telegram.AllowedChatIDs, now.Channels.Telegram.AllowedChatIDs = nil, nil
		if diff := cmp.Diff(old.Config, now.Config); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDenyOfNobody leaves a file alone in which the chat does not stand.
func TestDenyOfNobody(t *testing.T) {
	for _, text := range []string{"", "log: {}", "channels: {telegram: {allowedChatIds: [1]}}\n"} {
		_, changed, err := provenAllowed(config.Source{File: "config.yaml"}, []byte(text), nil, []int64{7})
		if err != nil || string(changed) != text {
			t.Errorf("%q: %q, %v", text, changed, err)
		}
	}
}

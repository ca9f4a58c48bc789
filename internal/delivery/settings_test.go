package delivery

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An error about a file with a secret tells what is wrong, and does not show the content.
func TestAFileWithASecretIsChecked(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct{ path, want string }{
		"missing":   {filepath.Join(folder, "gone"), "cannot read the file"},
		"a folder":  {folder, "cannot read the file"},
		"endless":   {"/dev/zero", "has more than 65536 bytes"},
		"too large": {write("large", bytes.Repeat([]byte("xoxb"), 20_000)), "has more than 65536 bytes"},
		"empty":     {write("empty", []byte(" \n")), "is empty"},
		"binary":    {write("binary", []byte("xoxb-\xff")), "is not valid UTF-8"},
	} {
		_, err := readSecret("bot_token", "file:"+tt.path)
		if err == nil || !strings.Contains(err.Error(), "settings.bot_token") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "xoxb") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if secret, err := readSecret("bot_token", "file:"+write("right", []byte("xoxb-1\n"))); err != nil || secret != "xoxb-1" {
		t.Errorf("got %q, %v", secret, err)
	}
}

package private_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/private"
)

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestAFileIsMadeForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made")
	if err := private.Create(path, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if mode := modeOf(t, path); mode != 0o600 {
		t.Errorf("the file has the rights %v, not 0600", mode)
	}
}

func TestWiderRightsAreMendedAndSaid(t *testing.T) {
	t.Parallel()
	for _, wide := range []os.FileMode{0o644, 0o640, 0o666, 0o604} {
		path := filepath.Join(t.TempDir(), "wide")
		if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, wide); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		for range 2 {
			if err := private.Create(path, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
				t.Fatal(err)
			}
		}
		if mode := modeOf(t, path); mode != 0o600 {
			t.Errorf("%v became %v, not 0600", wide, mode)
		}
		if lines := strings.Count(log.String(), path); lines != 1 {
			t.Errorf("the log names the file %d times, not once:\n%s", lines, log.String())
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != "content" {
			t.Errorf("the file holds %q, %v", content, err)
		}
	}
}

func TestReplaceKeepsAFilePrivate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "replaced")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := private.Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "new" || modeOf(t, path) != 0o600 {
		t.Errorf("the file holds %q with %v, %v", content, modeOf(t, path), err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %d entries, %v: something was left", len(entries), err)
	}
}

package delivery

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/channel/push"
	"github.com/fermata-hq/fermata/internal/channel/slack"
)

// An error about a file with a secret says what is wrong, and does not show the content.
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

// The refusal of a setting says which form it must have. It does not repeat the value, which may be a secret.
func TestARefusedSettingTellsItsForm(t *testing.T) {
	t.Parallel()
	kinds := map[string]Kind{
		"slack": {Settings: slack.Schema}, "github": {Settings: github.Schema}, "push": {Settings: push.Schema},
		"array": {Settings: []byte(`{"properties": {"hosts": {"type": "array", "description": "Names in lower case.", "items": {"type": "string", "pattern": "^[a-z]+$"}}}}`)},
		"plain": {Settings: []byte(`{"properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}}}`)},
	}
	valid := map[string]map[string]any{"slack": {"bot_token": "xoxb-1", "conversation": "C1"}}
	for _, tt := range []struct {
		kind, setting string
		value         any
		want          string
	}{
		{"slack", "bot_token", "ABC1", "xoxb-…"},
		{"slack", "app_token", "ABC1", "xapp-…"},
		{"slack", "app_token", "xoxb-ABC1", "xapp-…"},
		{"slack", "app_token", "xapp-1", ""},
		{"slack", "app_token", "env:SLACK_APP_TOKEN", ""},
		{"slack", "app_token", "", ""},
		{"github", "poll", "ABC1", "such as 30s"},
		{"push", "subject", "ABC1", "mail address"},
		{"push", "subject", "http://ABC1.example.com", "mail address"},
		{"push", "subject", "mailto:ABC1", "mail address"},
		{"push", "subject", "tel:ABC1@example.com", "mail address"},
		{"push", "subject", "https://", "mail address"},
		{"push", "subject", "ops@example.com", ""},
		{"push", "subject", "mailto:ops@example.com", ""},
		{"push", "subject", "https://example.com/contact", ""},
		{"push", "subject", "", ""},
		{"array", "hosts", []any{"ABC1"}, "settings.hosts.0: does not have the expected form: Names in lower case"},
		{"plain", "name", "ABC1", "settings.name: does not have the expected form"},
	} {
		settings := fermata.MergeSettings(valid[tt.kind], map[string]any{tt.setting: tt.value})
		err := kinds[tt.kind].check(settings)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s %s=%v: %v", tt.kind, tt.setting, tt.value, err)
			}
			continue
		}
		var e *fermata.Error
		if !errors.As(err, &e) || e.Code != fermata.CodeInvalidRequest || e.Hint == "" ||
			!strings.HasPrefix(e.Message, "settings."+tt.setting) || !strings.Contains(e.Message, tt.want) || strings.Contains(e.Message, "ABC1") {
			t.Errorf("%s %s=%v: %v, want %q", tt.kind, tt.setting, tt.value, err, tt.want)
		}
	}
}

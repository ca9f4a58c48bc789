package slack_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	remote "github.com/fermata-hq/fermata/test/standin/slack"
)

// TestManifest checks that the manifest asks for exactly the scopes that the
// app needs, and that the page explains each of them.
func TestManifest(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("../../../docs/slack-manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/guides/slack.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manifest), "    bot:\n")
	list, _, _ := strings.Cut(rest, "settings:")
	var asked []string
	for line := range strings.Lines(list) {
		asked = append(asked, strings.TrimPrefix(strings.TrimSpace(line), "- "))
	}
	// The stand-in grants exactly these scopes, and refuses each call without
	// its own. TestCheck finds no missing scope with them.
	if !slices.Equal(asked, remote.AllScopes) {
		t.Errorf("the manifest asks for %q, the app needs %q", asked, remote.AllScopes)
	}
	for _, scope := range asked {
		if !strings.Contains(string(page), "`"+scope+"`") {
			t.Errorf("docs/guides/slack.md does not say what %s is for", scope)
		}
	}
}

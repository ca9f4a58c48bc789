package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// A secret is recognized by the name of its setting. Under another spelling,
// every reader of the channel would see it.
func TestSecretsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	kinds, err := channelKinds(ServeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secrets := 0
	for _, kind := range kinds {
		for _, secret := range kind.Secrets {
			secrets++
			settings, err := json.Marshal(map[string]string{strings.ToUpper(secret): "s3cret"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = kind.Open(settings, notice.Env{})
			if fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), "settings."+strings.ToUpper(secret)+": is no known field") {
				t.Errorf("%s takes %s as a setting: %v", kind.Name, settings, err)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s tells the secret: %v", kind.Name, err)
			}
		}
	}
	if secrets == 0 {
		t.Error("no kind has a secret")
	}
}

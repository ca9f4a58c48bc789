package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/webhook"
	"github.com/fermata-hq/fermata/internal/notice"
	standin "github.com/fermata-hq/fermata/test/standin/webhook"
)

// mustPrepare completes settings as the server does when they are stored.
func mustPrepare(t *testing.T, before, after map[string]any) map[string]any {
	t.Helper()
	var old json.RawMessage
	if before != nil {
		old = mustEncode(t, before)
	}
	raw, err := webhook.Prepare(old, mustEncode(t, after))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A new subscription to an unknown event type is refused. An existing channel
// continues to work after its event type was removed.
func TestEventsThatThereAreNot(t *testing.T) {
	t.Parallel()
	for _, events := range [][]string{{""}, {"question.anwsered"}, {"question.asked", "questions"}} {
		s := map[string]any{"url": "https://example.com", "secret": standin.Secret, "events": events}
		if _, err := webhook.Prepare(nil, mustEncode(t, s)); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%v: %v", events, err)
		}
		if _, err := webhook.Open(mustEncode(t, s), notice.Env{HTTP: http.DefaultClient}); err != nil {
			t.Errorf("%v: %v", events, err)
		}
	}
}

func mustEncode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestSecretIsMadeWhenNoneIsGiven(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	settings := there.Settings()
	delete(settings, "secret")
	made := mustPrepare(t, nil, settings)
	again := mustPrepare(t, nil, settings)
	secret, _ := made["secret"].(string)
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(raw) != 32 || !strings.HasPrefix(secret, "whsec_") || again["secret"] == secret {
		t.Fatalf("the secret %q, then %q", secret, again["secret"])
	}
	there.SetSecrets(secret)
	if err := open(t, made).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// While a secret is changed, receivers with the old secret and receivers with
// the new one can both verify.
func TestRotation(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	first := there.Settings()
	changed := map[string]any{}
	for k, v := range first {
		changed[k] = v
	}
	changed["secret"] = "generate"
	both := mustPrepare(t, first, changed)
	if both["previous_secret"] != standin.Secret || both["secret"] == standin.Secret {
		t.Fatalf("%v", both)
	}
	c := open(t, both)
	for _, secret := range []string{standin.Secret, both["secret"].(string)} {
		there.SetSecrets(secret)
		if err := c.Check(t.Context()); err != nil {
			t.Errorf("a receiver with one of both: %v", err)
		}
	}
	if n := len(strings.Fields(there.Attempts()[0].Signature)); n != 2 {
		t.Errorf("%d signatures, want 2", n)
	}
	if same := mustPrepare(t, both, both); same["previous_secret"] != standin.Secret || same["secret"] != both["secret"] {
		t.Errorf("another change ended the rotation: %v", same)
	}
	ended := map[string]any{}
	for k, v := range both {
		ended[k] = v
	}
	delete(ended, "previous_secret")
	c = open(t, mustPrepare(t, both, ended))
	there.SetSecrets(standin.Secret)
	if err := c.Check(t.Context()); err == nil {
		t.Error("the old secret is valid after the rotation")
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	settings := mustPrepare(t, nil, map[string]any{"url": there.URL, "ed25519_private_key": "generate", "allow_private": true})
	public, _ := settings["ed25519_public_key"].(string)
	if err := there.SetPublicKey(public); err != nil || !strings.HasPrefix(public, "whpk_") {
		t.Fatalf("%q: %v", public, err)
	}
	if err := open(t, settings).Check(t.Context()); err != nil {
		t.Error(err)
	}
	if signature := there.Attempts()[0].Signature; !strings.HasPrefix(signature, "v1a,") || strings.Contains(signature, " ") {
		t.Errorf("signed by %q", signature)
	}
	if _, ok := settings["secret"]; ok {
		t.Error("a secret was made though there is a key")
	}
}

func TestReferencesToSecretsAreKept(t *testing.T) {
	t.Parallel()
	s := mustPrepare(t, nil, map[string]any{"url": "https://example.com", "secret": "env:HOOK_SECRET", "ed25519_private_key": "file:/run/key"})
	if s["secret"] != "env:HOOK_SECRET" || s["ed25519_private_key"] != "file:/run/key" {
		t.Errorf("%v", s)
	}
}

func TestSettingsThatDoNotFit(t *testing.T) {
	t.Parallel()
	short := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23))
	long := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65))
	for name, s := range map[string]map[string]any{
		"no address":       {"secret": standin.Secret},
		"no web":           {"url": "ftp://example.com"},
		"a password":       {"url": "https://a:b@example.com"},
		"short secret":     {"url": "https://example.com", "secret": short},
		"long secret":      {"url": "https://example.com", "secret": long},
		"no prefix":        {"url": "https://example.com", "secret": strings.TrimPrefix(standin.Secret, "whsec_")},
		"no base64":        {"url": "https://example.com", "secret": "whsec_!"},
		"previous secret":  {"url": "https://example.com", "secret": standin.Secret, "previous_secret": short},
		"no key":           {"url": "https://example.com", "ed25519_private_key": "whsk_AAAA"},
		"unknown":          {"url": "https://example.com", "secret": standin.Secret, "sekret": "x"},
		"events as a text": {"url": "https://example.com", "secret": standin.Secret, "events": "*"},
	} {
		if _, err := webhook.Prepare(nil, mustEncode(t, s)); err == nil {
			t.Errorf("%s: prepared", name)
		}
		if _, err := webhook.Open(mustEncode(t, s), notice.Env{HTTP: http.DefaultClient}); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestSchemaIsJSON(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(webhook.Schema), &schema); err != nil {
		t.Fatal(err)
	}
	for _, secret := range webhook.Secrets {
		if schema.Properties[secret] == nil {
			t.Errorf("%s is not in the schema", secret)
		}
	}
}

package webhook

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// settings are the settings of one channel.
type settings struct {
	URL string `json:"url"`
	// Events are the event types to send; "*" means all of them.
	Events []string `json:"events,omitempty"`
	keys
}

// keys holds the keys with which a channel signs. It also says whether the
// channel may reach private addresses.
type keys struct {
	Secret            string `json:"secret,omitempty"`
	PreviousSecret    string `json:"previous_secret,omitempty"`
	Ed25519PrivateKey string `json:"ed25519_private_key,omitempty"`
	// Ed25519PublicKey is for receivers. It is derived from the private key.
	Ed25519PublicKey string `json:"ed25519_public_key,omitempty"`
	AllowPrivate     bool   `json:"allow_private,omitempty"`
}

// Schema is the JSON Schema of the settings.
const Schema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["url"],
  "properties": {
    "url": {"type": "string", "format": "uri", "title": "Address", "description": "Where events are posted to, https://example.com/hook."},
    "events": {"type": "array", "items": {"type": "string"}, "title": "Events", "description": "Types of events that are sent, such as question.asked; * is every type. Without any, only what a route or a question sends here."},
` + schemaOfKeys + `
  }
}`

// schemaOfKeys are the properties that a channel and a callback share.
const schemaOfKeys = `    "secret": {"type": "string", "title": "Secret", "description": "whsec_ and base64 of 24 to 64 bytes. Leave it out, or write \"generate\", and one is made and shown once. The secret before stays valid until previous_secret is emptied."},
    "previous_secret": {"type": "string", "title": "Previous secret", "description": "Signs as well while the secret is changed; empty ends that."},
    "ed25519_private_key": {"type": "string", "title": "Private key (ed25519)", "description": "whsk_ and base64 of the key, or \"generate\". Signs with v1a, so that receivers need no secret."},
    "ed25519_public_key": {"type": "string", "title": "Public key (ed25519)", "description": "For receivers. It follows from the private key.", "readOnly": true},
    "allow_private": {"type": "boolean", "title": "Private addresses", "description": "Also send to an address that is not public, such as one of this network."}`

// Secrets are the names of the settings that are never shown again.
var Secrets = []string{"secret", "previous_secret", "ed25519_private_key"}

func parseSettings(raw json.RawMessage) (settings, error) {
	var s settings
	if err := strictjson.UnmarshalSettings(raw, &s); err != nil {
		return s, err
	}
	if _, err := outbound.ParseURL("settings.url", s.URL); err != nil {
		return s, err
	}
	return s, nil
}

// Generate is the value that asks for a new secret or key.
const Generate = "generate"

// Prepare completes settings before they are stored. It creates a secret if the
// settings have neither a secret nor a key, and a secret or key that the
// settings ask for by [Generate]. A replaced secret stays valid as the previous
// one. The old settings are nil for a new channel. Added values are shown once,
// to the person who writes the settings.
func Prepare(before, after json.RawMessage) (json.RawMessage, error) {
	var old, s settings
	if len(before) > 0 {
		if err := json.Unmarshal(before, &old); err != nil {
			return nil, err
		}
	}
	s, err := parseSettings(after)
	if err != nil {
		return nil, err
	}
	// The check is only made when settings are written. A type that a later
	// version drops must not stop a channel.
	if err := fermata.CheckEventTypes("settings.events", s.Events); err != nil {
		return nil, err
	}
	if err := s.prepare(old.keys); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// prepare creates the keys that are missing or that the settings ask for.
func (s *keys) prepare(old keys) error {
	if s.Ed25519PrivateKey == Generate {
		s.Ed25519PrivateKey = newKey()
	}
	if s.Secret == Generate || s.Secret == "" && s.Ed25519PrivateKey == "" {
		s.Secret = newSecret()
	}
	// A caller who also writes previous_secret chose that value on purpose.
	if old.Secret != "" && s.Secret != old.Secret && s.PreviousSecret == old.PreviousSecret {
		s.PreviousSecret = old.Secret
	}
	s.Ed25519PublicKey = ""
	if s.Ed25519PrivateKey != "" && !isStoredElsewhere(s.Ed25519PrivateKey) {
		var err error
		if s.Ed25519PublicKey, err = publicKey(s.Ed25519PrivateKey); err != nil {
			return err
		}
	}
	for _, secret := range []string{s.Secret, s.PreviousSecret} {
		if secret != "" && !isStoredElsewhere(secret) {
			if _, err := decodeSecret("settings.secret", secret); err != nil {
				return err
			}
		}
	}
	return nil
}

package keys

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// sealPrefix begins every sealed value. The number is the version of the format.
const sealPrefix = "fs1."

// encoding encodes sealed values. It is strict, so that each value has only one spelling.
var encoding = base64.RawURLEncoding.Strict()

// Seal encrypts a secret with a master key and binds it to a location in the database. The value can be opened only for
// the same location.
func (r *Ring) Seal(keyID string, secret []byte, location ...string) (string, error) {
	aead, err := r.cipher(keyID)
	if err != nil {
		return "", err
	}
	data := aead.Seal(nil, nil, secret, associatedData(location)) //nolint:gosec // the cipher makes a random nonce by itself
	return sealPrefix + keyID + "." + encoding.EncodeToString(data), nil
}

// Open decrypts a value that [Ring.Seal] returned for the same location. It refuses a value that is not sealed, was
// changed, or was moved from another location.
func (r *Ring) Open(sealed string, location ...string) ([]byte, error) {
	id, ok := SealedWith(sealed)
	if !ok {
		return nil, fmt.Errorf("%s is not sealed", strings.Join(location, " "))
	}
	aead, err := r.cipher(id)
	if err != nil {
		return nil, err
	}
	data, err := encoding.DecodeString(sealed[len(sealPrefix)+len(id)+1:])
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", strings.Join(location, " "), err)
	}
	secret, err := aead.Open(nil, nil, data, associatedData(location))
	if err != nil {
		return nil, fmt.Errorf("%s was changed, or was sealed for another place: %w", strings.Join(location, " "), err)
	}
	return secret, nil
}

// SealedWith returns the id of the master key with which a value is sealed. ok is false if the value is not sealed.
func SealedWith(value string) (keyID string, ok bool) {
	rest, ok := strings.CutPrefix(value, sealPrefix)
	if !ok {
		return "", false
	}
	keyID, _, ok = strings.Cut(rest, ".")
	return keyID, ok && strings.HasPrefix(keyID, idPrefix)
}

// associatedData encodes a location as associated data of the cipher. Different locations give different bytes.
func associatedData(location []string) []byte {
	var data []byte
	for _, part := range location {
		data = binary.BigEndian.AppendUint32(data, uint32(len(part)))
		data = append(data, part...)
	}
	return data
}

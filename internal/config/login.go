// Package config keeps what `fermata login` stores: which server the command
// line talks to, and with which token. It reads no flags and no environment.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// DefaultURL is the address at which `fermata serve` listens by itself.
const DefaultURL = "http://127.0.0.1:7433"

// Login is the content of the file: tokens by the address of their server. A
// token is never sent to any other address than the one it was stored for.
type Login struct {
	// URL is the server to talk to when nothing else names one.
	URL    string            `json:"url,omitempty"`
	Tokens map[string]string `json:"tokens,omitempty"`
}

// Path returns the place of the file in the user's config folder.
func Path() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the config folder: %w", err)
	}
	return filepath.Join(dir, "fermata", "login.json"), nil
}

// Load reads the file. One that does not exist is an empty login.
func Load(path string) (Login, error) {
	var l Login
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, fmt.Errorf("read the stored login: %w", err)
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("read the stored login %s: %w", path, err)
	}
	return l, nil
}

// Address returns the server to talk to: the one that is asked for, else the
// stored one, else [DefaultURL].
func (l Login) Address(asked string) string {
	for _, url := range []string{asked, l.URL} {
		if url = Canonical(url); url != "" {
			return url
		}
	}
	return DefaultURL
}

// Token returns the token that was stored for the server, "" when none was.
func (l Login) Token(url string) string { return l.Tokens[Canonical(url)] }

// With returns the login with a token for the server, which becomes the one
// to talk to.
func (l Login) With(url, token string) Login {
	tokens := make(map[string]string, len(l.Tokens)+1)
	for u, t := range l.Tokens {
		tokens[u] = t
	}
	tokens[Canonical(url)] = token
	return Login{URL: Canonical(url), Tokens: tokens}
}

// Canonical is the one spelling of a server's address.
func Canonical(url string) string { return strings.TrimRight(strings.TrimSpace(url), "/") }

// Save writes the file so that only its owner can read it. It is replaced as
// a whole, so that a crash leaves the old one.
func (l Login) Save(path string) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	// CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(filepath.Dir(path), ".login-*")
	if err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	// After the rename there is nothing left to remove.
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	return nil
}

// Package config holds the settings of the program: the options of the commands that run it, with their flags,
// environment variables and defaults, and the file of `fermata login`, which names the server that the command line
// uses.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// DefaultURL is the default address at which `fermata serve` listens.
const DefaultURL = "http://127.0.0.1:7433"

// Login is the content of the file: tokens by the address of their server. A
// token is only sent to the address for which it was stored.
type Login struct {
	// URL is the server to use if no other one is named.
	URL    string            `json:"url,omitempty"`
	Tokens map[string]string `json:"tokens,omitempty"`
}

// LoginPath returns the place of the file in the user's config folder.
func LoginPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the config folder: %w", err)
	}
	return filepath.Join(dir, "fermata", "login.json"), nil
}

// LoadLogin reads the file. If the file does not exist, it returns an empty login.
func LoadLogin(path string) (Login, error) {
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

// Address returns the address of the server to use: requestedURL, else the stored
// one, else [DefaultURL].
func (l Login) Address(requestedURL string) string {
	for _, url := range []string{requestedURL, l.URL} {
		if url = CanonicalURL(url); url != "" {
			return url
		}
	}
	return DefaultURL
}

// Token returns the token that was stored for the server, or "" if there is
// none.
func (l Login) Token(url string) string { return l.Tokens[CanonicalURL(url)] }

// WithToken returns a copy of the login with a token for the server. This server
// becomes the one to use.
func (l Login) WithToken(url, token string) Login {
	tokens := make(map[string]string, len(l.Tokens)+1)
	for u, t := range l.Tokens {
		tokens[u] = t
	}
	tokens[CanonicalURL(url)] = token
	return Login{URL: CanonicalURL(url), Tokens: tokens}
}

// WithoutToken returns a copy of the login without the token for the server.
func (l Login) WithoutToken(url string) Login {
	tokens := maps.Clone(l.Tokens)
	delete(tokens, CanonicalURL(url))
	return Login{URL: l.URL, Tokens: tokens}
}

// CanonicalURL returns the canonical spelling of a server's address: without
// spaces around it and without slashes at its end.
func CanonicalURL(url string) string { return strings.TrimRight(strings.TrimSpace(url), "/") }

// Save writes the file so that only its owner can read it. It replaces the
// whole file at once, so a crash leaves the old file.
func (l Login) Save(path string) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	// CreateTemp creates files with mode 0600.
	f, err := os.CreateTemp(filepath.Dir(path), ".login-*")
	if err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	// After the rename, the temporary file does not exist, so Remove does
	// nothing.
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

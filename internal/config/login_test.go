package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLoginIsStoredForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fermata", "login.json")
	empty, err := LoadLogin(path)
	if err != nil || empty.Address("") != DefaultURL {
		t.Fatalf("without a file: %+v, %v", empty, err)
	}
	if err := empty.WithToken("http://a/", "one").WithToken("http://b", "two").Save(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	l, err := LoadLogin(path)
	if err != nil {
		t.Fatal(err)
	}
	if l.Address("") != "http://b" || l.Address("http://a/") != "http://a" {
		t.Errorf("addresses %q, %q", l.Address(""), l.Address("http://a/"))
	}
	if l.Token("http://a") != "one" || l.Token("http://b/") != "two" || l.Token("http://c") != "" {
		t.Errorf("tokens %v", l.Tokens)
	}
}

func TestADamagedFileIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "login.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadLogin(path); err == nil {
		t.Error("want an error")
	}
}

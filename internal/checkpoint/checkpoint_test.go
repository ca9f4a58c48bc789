package checkpoint_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/keys"
)

func TestOnlyTheKeyOfTheServerSignsACheckpoint(t *testing.T) {
	t.Parallel()
	signer := newSigner(t)
	c := fermata.Checkpoint{Workspace: "default", Seq: 12, Hash: "abc", At: time.Date(2026, 11, 23, 5, 0, 0, 120_000_000, time.UTC)}
	signed, err := signer.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	v, err := checkpoint.NewVerifier(signer.PublicKey() + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(signed); err != nil {
		t.Error(err)
	}
	if err := newSigner(t).Verify(signed); err == nil {
		t.Error("another key opens it")
	}
	if _, err := checkpoint.NewVerifier("x"); err == nil {
		t.Error("no key opens it")
	}
	for name, change := range map[string]func(*fermata.SignedCheckpoint){
		"workspace": func(c *fermata.SignedCheckpoint) { c.Workspace = "other" },
		"number":    func(c *fermata.SignedCheckpoint) { c.Seq++ },
		"hash":      func(c *fermata.SignedCheckpoint) { c.Hash = "abd" },
		"instant":   func(c *fermata.SignedCheckpoint) { c.At = c.At.Add(time.Second) },
		"text":      func(c *fermata.SignedCheckpoint) { c.Note = strings.Replace(c.Note, "\n12\n", "\n13\n", 1) },
		"nothing":   func(c *fermata.SignedCheckpoint) { c.Note = "" },
	} {
		changed := signed
		change(&changed)
		if signer.Verify(changed) == nil {
			t.Errorf("a changed %s is not seen", name)
		}
	}
}

func newSigner(t *testing.T) *checkpoint.Signer {
	t.Helper()
	signer, err := checkpoint.NewSigner(keys.New().AuditSigner())
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

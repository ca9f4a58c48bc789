package app

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
)

// The first start creates a key file beside the data folder. A sealed database does not start without this file, and no
// new key replaces it.
func TestALostKeyIsNotReplaced(t *testing.T) {
	t.Parallel()
	d := Storage{Storage: config.Storage{Data: filepath.Join(t.TempDir(), "data")}}
	if err := Migrate(t.Context(), d, io.Discard); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept.key")
	if err := os.Rename(d.Data+".key", kept); err != nil {
		t.Fatal(err)
	}
	err := Migrate(t.Context(), d, io.Discard)
	if fermata.CodeOf(err) != fermata.CodeUnavailable || !strings.Contains(err.Error(), d.Data+".key") {
		t.Errorf("without the key file: %v", err)
	}
	if _, err := os.Stat(d.Data + ".key"); !os.IsNotExist(err) {
		t.Errorf("another key file was made: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	if _, err := keys.Create(other); err != nil {
		t.Fatal(err)
	}
	d.MasterKeyFile = other
	if err := Migrate(t.Context(), d, io.Discard); fermata.CodeOf(err) != fermata.CodeUnavailable {
		t.Errorf("with another key: %v", err)
	}
	d.MasterKeyFile = kept
	if err := Migrate(t.Context(), d, io.Discard); err != nil {
		t.Errorf("with the key in another place: %v", err)
	}
}

func TestRotateKeys(t *testing.T) {
	t.Parallel()
	d := Storage{Storage: config.Storage{Data: filepath.Join(t.TempDir(), "data")}}
	var said strings.Builder
	if err := RotateKeys(t.Context(), d, &said); fermata.CodeOf(err) != fermata.CodeNotFound {
		t.Errorf("without a database: %v", err)
	}
	if err := Migrate(t.Context(), d, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := RotateKeys(t.Context(), d, &said); err != nil {
		t.Fatal(err)
	}
	ring, err := keys.Load(d.Data + ".key")
	if err != nil {
		t.Fatal(err)
	}
	if all := ring.MasterKeys(); len(all) != 2 || !all[1].Current || !strings.Contains(said.String(), all[1].ID) {
		t.Errorf("after %q the file has %v", &said, all)
	}
	err = withDatabase(t.Context(), d, func(db *store.DB) error {
		if id := db.SealedWith(t.Context()); id != ring.Current() {
			t.Errorf("the database is sealed with %s, the file says %s", id, ring.Current())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

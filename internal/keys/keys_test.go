package keys_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
)

var quiet = slog.New(slog.DiscardHandler)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T) *keys.Ring {
	t.Helper()
	r, err := keys.Create(filepath.Join(t.TempDir(), "fermata.key"))
	check(t, err)
	return r
}

func TestASealedValueOpensOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	r := keys.New()
	secret := []byte("xoxb-sesame")
	sealed, err := r.Seal(r.Current(), secret, "channels", "settings", "default", "chn_1")
	check(t, err)
	if strings.Contains(sealed, "sesame") {
		t.Errorf("the sealed value shows the secret: %s", sealed)
	}
	opened, err := r.Open(sealed, "channels", "settings", "default", "chn_1")
	check(t, err)
	if !bytes.Equal(opened, secret) {
		t.Errorf("opened %q", opened)
	}
	for _, place := range [][]string{
		{"channels", "settings", "default", "chn_2"}, {"channels", "name", "default", "chn_1"}, {"devices", "settings", "default", "chn_1"},
		{"channels", "settings", "defaultchn_1"}, {"channelssettings", "default", "chn_1"}, {},
	} {
		if opened, err := r.Open(sealed, place...); err == nil {
			t.Errorf("it opened at %q: %q", place, opened)
		}
	}
}

func TestASealedValueThatWasChangedDoesNotOpen(t *testing.T) {
	t.Parallel()
	r := keys.New()
	sealed, err := r.Seal(r.Current(), []byte("secret"), "a")
	check(t, err)
	for i := range sealed {
		for _, b := range []byte{'A', 'B', '.', '_'} {
			changed := sealed[:i] + string(b) + sealed[i+1:]
			if changed == sealed {
				continue
			}
			if opened, err := r.Open(changed, "a"); err == nil {
				t.Fatalf("%s opened as %q", changed, opened)
			}
		}
	}
	for _, plain := range []string{"", "secret", "fs1.", "fs1.mk_", sealed + "A", sealed[:len(sealed)-1], sealed + "="} {
		if opened, err := r.Open(plain, "a"); err == nil {
			t.Errorf("%q opened as %q", plain, opened)
		}
	}
}

func TestAnotherRingOpensNothing(t *testing.T) {
	t.Parallel()
	mine, other := keys.New(), keys.New()
	sealed, err := mine.Seal(mine.Current(), []byte("secret"), "a")
	check(t, err)
	_, err = other.Open(sealed, "a")
	if fermata.CodeOf(err) != fermata.CodeUnavailable || !strings.Contains(err.Error(), mine.Current()) {
		t.Errorf("another ring says %v, and should name the key that is missing", err)
	}
}

func TestAKeyFileIsReadAgainAndKeptPrivate(t *testing.T) {
	t.Parallel()
	r := create(t)
	info, err := os.Stat(r.Path())
	check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has the rights %v", info.Mode())
	}
	sealed, err := r.Seal(r.Current(), []byte("secret"), "a")
	check(t, err)
	again, err := keys.Load(r.Path())
	check(t, err)
	opened, err := again.Open(sealed, "a")
	check(t, err)
	if string(opened) != "secret" {
		t.Errorf("opened %q", opened)
	}
	message := []byte("head 7")
	if !ed25519.Verify(r.AuditSigner().PublicKey(), message, again.AuditSigner().Sign(message)) {
		t.Error("the signing key is another one after a reload")
	}
	if r.AuditSigner().KeyID() != keys.AuditKeyID(again.AuditSigner().PublicKey()) {
		t.Error("the signing key has two ids")
	}
}

func TestAKeyFileIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	r := create(t)
	before, err := os.ReadFile(r.Path())
	check(t, err)
	if _, err := keys.Create(r.Path()); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
		t.Errorf("a second file of the name: %v", err)
	}
	after, err := os.ReadFile(r.Path())
	check(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the key file was changed")
	}
	entries, err := os.ReadDir(filepath.Dir(r.Path()))
	check(t, err)
	if len(entries) != 1 {
		t.Errorf("%d files were left beside the key file", len(entries)-1)
	}
}

func TestARotatedRingKeepsTheOldKey(t *testing.T) {
	t.Parallel()
	r := create(t)
	old := r.Current()
	sealed, err := r.Seal(old, []byte("secret"), "a")
	check(t, err)
	other, err := keys.Load(r.Path())
	check(t, err)
	id, err := r.Add()
	check(t, err)
	if r.Current() != old || !r.IsNewer(id, old) || r.IsNewer(old, id) {
		t.Errorf("a key that was only added: current is %s, newer is %v", r.Current(), r.IsNewer(id, old))
	}
	check(t, r.Promote(id))
	again, err := keys.Load(r.Path())
	check(t, err)
	if again.Current() != id || !again.Has(old) || len(again.MasterKeys()) != 2 {
		t.Errorf("the file has the current key %s among %v", again.Current(), again.MasterKeys())
	}
	if opened, err := again.Open(sealed, "a"); err != nil || string(opened) != "secret" {
		t.Errorf("the old key opens %q, %v", opened, err)
	}
	if again.AuditSigner().KeyID() != r.AuditSigner().KeyID() {
		t.Error("a rotation of the master key changed the signing key")
	}
	// A running server that meets the new key reads the file again.
	fresh, err := r.Seal(id, []byte("fresh"), "b")
	check(t, err)
	if opened, err := other.Open(fresh, "b"); err != nil || string(opened) != "fresh" {
		t.Errorf("a ring that was read before opens %q, %v", opened, err)
	}
}

func TestAKeyFileThatWasChangedIsRefused(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(create(t).Path())
	check(t, err)
	type object = map[string]any
	for name, change := range map[string]func(object){
		"another secret": func(o object) {
			first := o["master_keys"].([]any)[0].(object)
			secret := []byte(first["secret"].(string))
			secret[3] ^= 1
			first["secret"] = string(secret)
		},
		"no signing key":   func(o object) { delete(o, "audit_signing_seed") },
		"an unknown field": func(o object) { o["extra"] = true },
		"no current key":   func(o object) { o["current"] = "mk_0000000000000000" },
		"no master keys":   func(o object) { o["master_keys"] = []any{} },
		"nothing":          func(o object) { clear(o) },
	} {
		var content object
		check(t, json.Unmarshal(data, &content))
		change(content)
		changed, err := json.Marshal(content)
		check(t, err)
		path := filepath.Join(t.TempDir(), "fermata.key")
		check(t, os.WriteFile(path, changed, 0o600))
		if _, err := keys.Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAKeyFileIsLookedForInOrder(t *testing.T) {
	base := t.TempDir()
	data, credentials := filepath.Join(base, "data"), filepath.Join(base, "credentials")
	check(t, os.MkdirAll(credentials, 0o700))
	where := func(named string) keys.Location {
		p, err := keys.Locate(named, data)
		check(t, err)
		return p
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	if p := where(""); p.Path != data+".key" || p.Source != keys.FromDefault {
		t.Errorf("without anything: %+v", p)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	if p := where(""); p.Source != keys.FromDefault {
		t.Errorf("with no such credential: %+v", p)
	}
	credential := filepath.Join(credentials, keys.CredentialName)
	_, err := keys.Create(credential)
	check(t, err)
	if p := where(""); p.Path != credential || p.Source != keys.FromCredential {
		t.Errorf("with a credential: %+v", p)
	}
	if p := where(filepath.Join(base, "named")); p.Path != filepath.Join(base, "named") || p.Source != keys.FromFlag {
		t.Errorf("with a flag: %+v", p)
	}
	r, err := where("").Load(quiet)
	check(t, err)
	if _, err := r.Add(); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
		t.Errorf("a credential was changed: %v", err)
	}
}

func TestAKeyFileInTheDataFolderIsRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	data := filepath.Join(base, "data")
	check(t, os.MkdirAll(filepath.Join(data, "deeper"), 0o700))
	check(t, os.Symlink(data, filepath.Join(base, "link")))
	for _, inside := range []string{
		filepath.Join(data, "fermata.key"), filepath.Join(data, "deeper", "fermata.key"), filepath.Join(data, "not", "yet", "there"),
		filepath.Join(base, "link", "fermata.key"), filepath.Join(base, "other", "..", "data", "fermata.key"),
	} {
		if p, err := keys.Locate(inside, data); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%s: %+v, %v", inside, p, err)
		}
	}
	link := filepath.Join(base, "link")
	if p, err := keys.Locate(filepath.Join(link, "fermata.key"), link); err == nil {
		t.Errorf("a linked data folder: %+v", p)
	}
	for _, outside := range []string{"fermata.key", "data.key", filepath.Join("data2", "x")} {
		_, err := keys.Locate(filepath.Join(base, outside), data)
		check(t, err)
	}
}

func TestAMissingKeyFileIsMadeOnlyOnRequest(t *testing.T) {
	t.Parallel()
	p, err := keys.Locate(filepath.Join(t.TempDir(), "fermata.key"), t.TempDir())
	check(t, err)
	if _, err := p.Load(quiet); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	r, made, err := p.LoadOrCreate(quiet)
	check(t, err)
	again, madeAgain, err := p.LoadOrCreate(quiet)
	check(t, err)
	if !made || madeAgain || r.Current() != again.Current() {
		t.Errorf("made %v, then %v; %s, then %s", made, madeAgain, r.Current(), again.Current())
	}
}

func TestAKeyFileThatOthersMayReadIsMendedAndSaid(t *testing.T) {
	t.Parallel()
	p, err := keys.Locate(filepath.Join(t.TempDir(), "fermata.key"), t.TempDir())
	check(t, err)
	_, _, err = p.LoadOrCreate(quiet)
	check(t, err)
	check(t, os.Chmod(p.Path, 0o644))
	var log bytes.Buffer
	_, err = p.Load(slog.New(slog.NewTextHandler(&log, nil)))
	check(t, err)
	info, err := os.Stat(p.Path)
	check(t, err)
	if info.Mode().Perm() != 0o600 || !strings.Contains(log.String(), "may have read the master key") {
		t.Errorf("the file has %v; the log says:\n%s", info.Mode(), log.String())
	}
}

func TestTheDescriptionOfKeysHasNoSecret(t *testing.T) {
	t.Parallel()
	r := create(t)
	shown, err := json.Marshal(r.MasterKeys())
	check(t, err)
	data, err := os.ReadFile(r.Path())
	check(t, err)
	var content struct {
		Keys []struct {
			Secret string `json:"secret"`
		} `json:"master_keys"`
	}
	check(t, json.Unmarshal(data, &content))
	if len(content.Keys) != 1 || len(content.Keys[0].Secret) < 40 {
		t.Fatalf("the file has no key to look for: %d", len(content.Keys))
	}
	if bytes.Contains(shown, []byte(content.Keys[0].Secret)) {
		t.Errorf("the description shows the secret: %s", shown)
	}
}

// Servers that start together share the one key file that the first of them
// creates.
func TestServersThatStartTogetherShareAKeyFile(t *testing.T) {
	t.Parallel()
	place, err := keys.Locate(filepath.Join(t.TempDir(), "fermata.key"), t.TempDir())
	check(t, err)
	var starting sync.WaitGroup
	found := make([]string, 20)
	for i := range found {
		starting.Go(func() {
			if r, _, err := place.LoadOrCreate(quiet); err != nil {
				t.Error(err)
			} else {
				found[i] = r.Current()
			}
		})
	}
	starting.Wait()
	if slices.Sort(found); found[0] == "" || found[0] != found[len(found)-1] {
		t.Errorf("they have the keys %v", found)
	}
}

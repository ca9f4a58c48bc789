package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
)

var secretTests = map[string]func(*suite){
	"no secret stands in the database":     secretsAreSealed,
	"one that was moved does not open":     secretsStayInPlace,
	"another key opens nothing":            secretsNeedTheKey,
	"a new key seals all, the old opens":   secretsAreResealed,
	"without keys nothing is written":      secretsNeedKeys,
	"keys that fit are found at the start": keysAreChecked,
}

// sesame is part of every secret of the tests.
const sesame = "sesame-open"

// addSecrets writes a secret into every column that holds secrets.
func (s *suite) addSecrets() {
	s.Helper()
	s.write(func(tx *store.Tx) {
		tx.InsertChannel(&fermata.Channel{ID: "chn_1", Name: "one", Kind: "slack", Settings: map[string]any{"token": sesame + "-1"}, CreatedAt: noon})
		tx.InsertChannel(&fermata.Channel{ID: "chn_2", Name: "two", Kind: "slack", Settings: map[string]any{"token": sesame + "-2"}, CreatedAt: noon})
		tx.SetChannelState("chn_1", "key", sesame)
		tx.InsertDevice(&fermata.Device{ID: "dev_1", MemberID: "mem_1", Name: "phone", AddedAt: noon, Subscription: fermata.PushSubscription{
			Endpoint: "https://push.example/" + sesame,
		}})
		tx.SaveNamedTool(&fermata.NamedTool{Name: "desk", Server: &fermata.ToolServer{URL: "https://desk.example", Headers: map[string]string{"X-Key": sesame}}})
		tx.SaveWorkflow(&fermata.Workflow{Name: "flow", Project: "default", WebhookSecret: sesame, CreatedAt: noon, UpdatedAt: noon})
	})
	s.checkNoError(s.db.Write(s.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		_, grants := tx.GrantKey()
		_, deliveries := tx.DeliveryKey("links", func() ([]byte, error) { return []byte(sesame), nil })
		return errors.Join(grants, deliveries)
	}))
}

func secretsAreSealed(s *suite) {
	s.addSecrets()
	key, err := s.db.Reader(s.Context(), store.DefaultWorkspace).GrantKey()
	s.checkNoError(err)
	n := 0
	for cell, value := range s.dump() {
		if strings.Contains(value, sesame) || strings.Contains(value, string(key)) {
			s.Errorf("%s holds a secret: %s", cell, value)
		}
		if _, ok := keys.SealedWith(value); ok {
			n++
		}
	}
	s.checkEqual(9, n)
	s.checkEqual(MasterKeys.Current(), s.db.SealedWith(s.Context()))
	s.checkSecretsOpen(s.db)
}

// checkSecretsOpen checks that the secrets are read as they were written.
func (s *suite) checkSecretsOpen(db *store.DB) {
	s.Helper()
	r := db.Reader(s.Context(), store.DefaultWorkspace)
	channel, err := r.Channel("chn_2")
	s.checkNoError(err)
	s.checkEqual(map[string]any{"token": sesame + "-2"}, channel.Settings)
	state, err := r.ChannelState("chn_1", "key")
	s.checkNoError(err)
	s.checkEqual(sesame, state)
	device, err := r.Device("dev_1")
	s.checkNoError(err)
	s.checkEqual("https://push.example/"+sesame, device.Subscription.Endpoint)
	named, err := r.NamedTool("desk")
	s.checkNoError(err)
	s.checkEqual(sesame, named.Server.Headers["X-Key"])
	workflow, err := r.Workflow("flow")
	s.checkNoError(err)
	s.checkEqual(sesame, workflow.WebhookSecret)
	key, err := r.DeliveryKey("links")
	s.checkNoError(err)
	s.checkEqual(sesame, string(key))
}

// dump returns the columns that hold secrets as they are stored in the
// database.
func (s *suite) dump() map[string]string {
	s.Helper()
	out := map[string]string{}
	for _, c := range store.SealedColumns() {
		for _, row := range Rows(s.T, s.opts, "SELECT workspace_id || '/' || "+c.Row+", "+c.Column+" FROM "+c.Table) {
			out[c.Table+" "+row[0]] = row[1]
		}
	}
	return out
}

func secretsStayInPlace(s *suite) {
	s.addSecrets()
	Exec(s.T, s.opts, "UPDATE channels SET settings = (SELECT settings FROM channels WHERE id = 'chn_2') WHERE id = 'chn_1'")
	if c, err := s.db.Reader(s.Context(), store.DefaultWorkspace).Channel("chn_1"); err == nil {
		s.Errorf("a secret that was moved opened: %v", c.Settings)
	}
	Exec(s.T, s.opts, `UPDATE channels SET settings = '{"token":"planted"}' WHERE id = 'chn_1'`)
	if c, err := s.db.Reader(s.Context(), store.DefaultWorkspace).Channel("chn_1"); err == nil {
		s.Errorf("a secret that is not sealed was taken: %v", c.Settings)
	}
	if s.db.CheckKeys(s.Context()) == nil {
		s.Error("the check at the start finds nothing wrong")
	}
}

func secretsNeedTheKey(s *suite) {
	s.addSecrets()
	opts := s.opts
	opts.Keys = keys.New()
	other := s.config.Open(s.T, opts)
	_, err := other.Reader(s.Context(), store.DefaultWorkspace).GrantKey()
	if fermata.CodeOf(err) != fermata.CodeUnavailable || !strings.Contains(err.Error(), MasterKeys.Current()) {
		s.Errorf("another key: %v", err)
	}
}

func keysAreChecked(s *suite) {
	s.checkNoError(s.db.CheckKeys(s.Context()))
	opts := s.opts
	opts.Keys = keys.New()
	if err := s.config.Open(s.T, opts).CheckKeys(s.Context()); err == nil || !strings.Contains(err.Error(), MasterKeys.Current()) {
		s.Errorf("a process with another key may start, though nothing is kept secret yet: %v", err)
	}
}

func secretsAreResealed(s *suite) {
	ring, err := keys.Create(s.TempDir() + "/master.key")
	s.checkNoError(err)
	s.rekey(ring)
	// The next test may get the same schema.
	s.Cleanup(func() { s.rekey(MasterKeys) })
	opts := s.opts
	opts.Keys = ring
	db := s.config.Open(s.T, opts)
	s.db = db
	s.addSecrets()
	before, err := keys.Load(ring.Path())
	s.checkNoError(err)
	id, err := ring.Add()
	s.checkNoError(err)
	s.checkNoError(ring.Promote(id))
	n, err := db.Reseal(s.Context())
	s.checkNoError(err)
	s.checkEqual(9, n)
	for cell, value := range s.dump() {
		if with, _ := keys.SealedWith(value); with != id {
			s.Errorf("%s is sealed with %q", cell, with)
		}
	}
	n, err = db.Reseal(s.Context())
	s.checkNoError(err)
	s.checkEqual(0, n)
	s.checkSecretsOpen(db)
	// A replica that started before the change finds the new key in the file.
	opts.Keys = before
	s.checkSecretsOpen(s.config.Open(s.T, opts))
}

// rekey seals the row that checks the keys with another ring, as if the
// database were new.
func (s *suite) rekey(ring *keys.Ring) {
	s.Helper()
	sealed, err := ring.Seal(ring.Current(), []byte("fermata"), "key_check", "sealed", store.DefaultWorkspace, "")
	s.checkNoError(err)
	Exec(s.T, s.opts, fmt.Sprintf("UPDATE key_check SET sealed = '%s'", sealed))
}

func secretsNeedKeys(s *suite) {
	opts := s.opts
	opts.Keys = nil
	db := s.config.Open(s.T, opts)
	err := db.Write(s.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.InsertChannel(&fermata.Channel{ID: "chn_1", Name: "one", Kind: "slack", Settings: map[string]any{"token": sesame}, CreatedAt: noon})
		return nil
	})
	if err == nil {
		s.Error("a secret was written without a key")
	}
	if db.CheckKeys(s.Context()) == nil {
		s.Error("a process without keys may start")
	}
	if _, err := db.Reseal(s.Context()); err == nil {
		s.Error("a process without keys reseals")
	}
}

package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var gateTests = map[string]func(*suite){
	"rule round trip":          gateRuleRoundTrip,
	"a rule's uses add up":     gateRuleUses,
	"one key":                  grantKey,
	"a grant is used up once":  grantOnce,
	"workspaces are separated": gateWorkspaces,
}

func newGateRule() *fermata.GateRule {
	return &fermata.GateRule{
		ID: id(fermata.PrefixGateRule), WorkspaceID: store.DefaultWorkspace, Owner: fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_1", Name: hardText},
		ExpiresAt: ptr(noon.Add(time.Hour)), CreatedAt: noon,
		NewGateRule: fermata.NewGateRule{
			Tool: hardText, Args: map[string]string{"command": hardText}, Decision: fermata.GateAllow, Project: "web", Uses: 2, Reason: hardText,
		},
	}
}

func gateRuleRoundTrip(s *suite) {
	want := newGateRule()
	s.write(func(tx *store.Tx) { tx.InsertGateRule(want) })
	got, err := s.read().GateRule(want.ID)
	s.checkNoError(err)
	s.checkEqual(want, got)
	s.write(func(tx *store.Tx) { tx.DeleteGateRule(want.ID) })
	all, err := s.read().GateRules()
	s.checkNoError(err)
	s.checkEqual(0, len(all))
}

func gateRuleUses(s *suite) {
	rule := newGateRule()
	s.write(func(tx *store.Tx) { tx.InsertGateRule(rule) })
	stale := *rule
	s.write(func(tx *store.Tx) { tx.UseGateRule(rule) })
	if s.try(func(tx *store.Tx) error { tx.UseGateRule(&stale); return nil }) == nil {
		s.Error("one use was counted twice")
	}
	got, err := s.read().GateRule(rule.ID)
	s.checkNoError(err)
	s.checkEqual(1, got.Used)
}

func grantKey(s *suite) {
	none, err := s.read().GrantKey()
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	var keys [][]byte
	for range 2 {
		s.checkNoError(s.try(func(tx *store.Tx) error {
			key, err := tx.GrantKey()
			keys = append(keys, key)
			return err
		}))
	}
	stored, err := s.read().GrantKey()
	s.checkNoError(err)
	s.checkEqual(32, len(stored))
	s.checkEqual(stored, keys[len(keys)-1])
}

func grantOnce(s *suite) {
	by := fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_1", Name: hardText}
	use := func() error { return s.try(func(tx *store.Tx) error { tx.UseGrant("q_1", hardText, by); return nil }) }
	s.checkNoError(use())
	if use() == nil {
		s.Error("one grant was used twice")
	}
	used, err := s.read().GrantsUsed([]string{"q_1", "q_2"})
	s.checkNoError(err)
	s.checkEqual(map[string]bool{"q_1": true}, used)
}

func gateWorkspaces(s *suite) {
	rule := newGateRule()
	s.write(func(tx *store.Tx) { tx.InsertGateRule(rule) })
	others, err := s.db.Reader(s.Context(), "other").GateRules()
	s.checkNoError(err)
	s.checkEqual(0, len(others))
}

package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var tokenTests = map[string]func(*suite){
	"round trip":                  tokenRoundTrip,
	"an agent's can never answer": tokenOfAgent,
	"one per hash":                tokenHash,
	"members round trip":          memberRoundTrip,
	"one member per handle":       memberHandle,
}

func newToken(hash string) *fermata.Token {
	return &fermata.Token{
		ID: id(fermata.PrefixToken), WorkspaceID: store.DefaultWorkspace, Name: hardText, Kind: fermata.ActorHuman, MemberID: "mem_1",
		Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeRead}, CreatedAt: noon, Hash: hash,
	}
}

func tokenRoundTrip(s *suite) {
	forever, brief := newToken("h1"), newToken("h2")
	brief.ExpiresAt, brief.Kind, brief.MemberID, brief.Scopes = ptr(noon.Add(time.Hour)), fermata.ActorAgent, "", []fermata.Scope{fermata.ScopeWork}
	brief.Projects = []string{"shop", "web"}
	s.write(func(tx *store.Tx) { tx.InsertToken(forever); tx.InsertToken(brief) })
	got, err := s.db.Reader(s.Context(), "").TokenByHash("h2")
	s.checkNoError(err)
	s.checkEqual(brief, got)
	forever.RevokedAt, forever.LastUsedAt = ptr(noon.Add(time.Minute)), ptr(noon.Add(time.Second))
	s.write(func(tx *store.Tx) { tx.RevokeToken(forever); tx.TouchToken(forever.ID, *forever.LastUsedAt) })
	got, err = s.read().Token(forever.ID)
	s.checkNoError(err)
	s.checkEqual(forever, got)
	all, err := s.read().Tokens()
	s.checkNoError(err)
	s.checkEqual(2, len(all))
	_, err = s.read().TokenByHash("h3")
	s.checkCode(err, fermata.CodeNotFound)
	_, err = s.read().Token("tok_none")
	s.checkCode(err, fermata.CodeNotFound)
	s.write(func(tx *store.Tx) { tx.TouchToken("tok_none", noon) })
	if s.try(func(tx *store.Tx) error { tx.RevokeToken(newToken("h4")); return nil }) == nil {
		s.Error("a token that is not there was revoked")
	}
}

func tokenOfAgent(s *suite) {
	for _, scope := range []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAdmin} {
		t := newToken("h")
		t.Kind, t.Scopes = fermata.ActorAgent, []fermata.Scope{fermata.ScopeWork, scope}
		if s.try(func(tx *store.Tx) error { tx.InsertToken(t); return nil }) == nil {
			s.Errorf("an agent's token has the scope %s", scope)
		}
	}
}

func tokenHash(s *suite) {
	s.write(func(tx *store.Tx) { tx.InsertToken(newToken("h")) })
	if s.try(func(tx *store.Tx) error { tx.InsertToken(newToken("h")); return nil }) == nil {
		s.Error("two tokens have one hash")
	}
}

func newMember(handle string) *fermata.Member {
	return &fermata.Member{ID: id(fermata.PrefixMember), Handle: handle, Role: fermata.RoleOperator, Groups: []string{hardText, "ops"}, CreatedAt: noon}
}

func memberRoundTrip(s *suite) {
	zoe, ann := newMember("zoe"), newMember("ann")
	ann.Groups, ann.Role = nil, fermata.RoleViewer
	s.write(func(tx *store.Tx) { tx.InsertMember(zoe); tx.InsertMember(ann) })
	got, err := s.read().Member(zoe.ID)
	s.checkNoError(err)
	s.checkEqual(zoe, got)
	got, err = s.read().MemberByHandle("ann")
	s.checkNoError(err)
	s.checkEqual(ann, got)
	all, err := s.read().Members()
	s.checkNoError(err)
	s.checkEqual([]*fermata.Member{ann, zoe}, all)
	_, err = s.read().Member("mem_none")
	s.checkCode(err, fermata.CodeNotFound)
	_, err = s.read().MemberByHandle("ANN")
	s.checkCode(err, fermata.CodeNotFound)
}

func memberHandle(s *suite) {
	s.write(func(tx *store.Tx) { tx.InsertMember(newMember("ann")) })
	if s.try(func(tx *store.Tx) error { tx.InsertMember(newMember("ann")); return nil }) == nil {
		s.Error("two members have one handle")
	}
}

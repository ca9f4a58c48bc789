package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var accessTests = map[string]func(*suite){
	"a member changes":               memberChanges,
	"one member per address":         memberEmail,
	"one member per subject":         memberSubject,
	"tokens of a member end":         tokensOfMember,
	"groups":                         groupsRoundTrip,
	"sessions round trip":            sessionRoundTrip,
	"sessions of a member end":       sessionsOfMember,
	"sessions whose time is over go": sessionsAge,
	"links round trip":               linkRoundTrip,
	"a link is used once":            linkOnce,
	"invitations":                    invitationsOpen,
	"links of a member go":           linksOfMember,
	"a flow is taken once":           flowOnce,
	"passkeys round trip":            passkeyRoundTrip,
	"one passkey per credential":     passkeyCredential,
}

func memberChanges(s *suite) {
	ann := newMember("ann")
	s.write(func(tx *store.Tx) { tx.InsertMember(ann) })
	ann.Name, ann.Email, ann.Subject, ann.Role = hardText, "ann@example.com", "https://id.example.com 1", fermata.RoleAdmin
	ann.Groups, ann.Projects, ann.DisabledAt = nil, map[string]fermata.Role{"web": fermata.RoleViewer}, ptr(noon.Add(time.Hour))
	s.write(func(tx *store.Tx) { tx.UpdateMember(ann) })
	for _, read := range []func() (*fermata.Member, error){
		func() (*fermata.Member, error) { return s.read().Member(ann.ID) },
		func() (*fermata.Member, error) { return s.read().MemberByEmail("ann@example.com") },
		func() (*fermata.Member, error) { return s.read().MemberBySubject("https://id.example.com 1") },
	} {
		got, err := read()
		s.checkNoError(err)
		s.checkEqual(ann, got)
	}
	bob := newMember("bob")
	s.write(func(tx *store.Tx) { tx.InsertMember(bob) })
	_, err := s.read().MemberByEmail("")
	s.checkCode(err, fermata.CodeNotFound)
	_, err = s.read().MemberBySubject("")
	s.checkCode(err, fermata.CodeNotFound)
	if s.try(func(tx *store.Tx) error { tx.UpdateMember(newMember("nobody")); return nil }) == nil {
		s.Error("a member who is not there was changed")
	}
}

func memberEmail(s *suite) {
	s.checkUnique(func(tx *store.Tx, handle string) {
		m := newMember(handle)
		m.Email = "a@example.com"
		tx.InsertMember(m)
	})
}

func memberSubject(s *suite) {
	s.checkUnique(func(tx *store.Tx, handle string) {
		m := newMember(handle)
		m.Subject = "https://id.example.com a"
		tx.InsertMember(m)
	})
}

// checkUnique checks that do succeeds the first time and is refused the second time.
func (s *suite) checkUnique(do func(tx *store.Tx, name string)) {
	s.Helper()
	s.write(func(tx *store.Tx) { do(tx, "first") })
	if s.try(func(tx *store.Tx) error { do(tx, "second"); return nil }) == nil {
		s.Error("there are two of what there is one of")
	}
}

func tokensOfMember(s *suite) {
	revoked, live, other := newToken("h1"), newToken("h2"), newToken("h3")
	other.MemberID, revoked.RevokedAt = "mem_2", ptr(noon)
	s.write(func(tx *store.Tx) {
		for _, t := range []*fermata.Token{revoked, live, other} {
			tx.InsertToken(t)
		}
		tx.RevokeToken(revoked)
	})
	s.write(func(tx *store.Tx) { tx.RevokeTokensOf("mem_1") })
	all, err := s.read().Tokens()
	s.checkNoError(err)
	for _, t := range all {
		if (t.RevokedAt == nil) != (t.Hash == "h3") || t.Hash == "h1" && !t.RevokedAt.Equal(noon) {
			s.Errorf("token %s was revoked at %v", t.Hash, t.RevokedAt)
		}
	}
}

func groupsRoundTrip(s *suite) {
	ops, dev := &fermata.Group{Name: "ops", Description: hardText, CreatedAt: ptr(noon)}, &fermata.Group{Name: hardText, CreatedAt: ptr(noon)}
	s.write(func(tx *store.Tx) { tx.SaveGroup(ops); tx.SaveGroup(dev) })
	ops.Description = "on call"
	s.write(func(tx *store.Tx) { tx.SaveGroup(ops); tx.DeleteGroup(hardText); tx.DeleteGroup("none") })
	all, err := s.read().Groups()
	s.checkNoError(err)
	s.checkEqual([]*fermata.Group{ops}, all)
}

func newSession(hash string) *fermata.BrowserSession {
	// The real clock decides which sessions have expired.
	now := fermata.TruncateTime(time.Now())
	return &fermata.BrowserSession{
		ID: fermata.NewID(fermata.PrefixSession, now), WorkspaceID: store.DefaultWorkspace, Hash: hash, MemberID: "mem_1",
		Method: fermata.SignInByMail, Assurance: fermata.AssuranceSession, UserAgent: hardText,
		CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(time.Hour), CreatorTokenID: "tok_1",
	}
}

func sessionRoundTrip(s *suite) {
	a, b := newSession("h1"), newSession("h2")
	s.write(func(tx *store.Tx) { tx.InsertSession(a); tx.InsertSession(b) })
	got, err := s.db.Reader(s.Context(), "").SessionByHash("h2")
	s.checkNoError(err)
	s.checkEqual(b, got)
	a.LastSeenAt = a.LastSeenAt.Add(time.Minute)
	s.write(func(tx *store.Tx) { tx.TouchSession(a.ID, a.LastSeenAt); tx.TouchSession("ses_none", noon) })
	all, err := s.read().SessionsOf("mem_1")
	s.checkNoError(err)
	s.checkEqual([]*fermata.BrowserSession{a, b}, all)
	everybodys, err := s.read().Sessions()
	s.checkNoError(err)
	s.checkEqual([]*fermata.BrowserSession{a, b}, everybodys)
	for range 2 {
		s.write(func(tx *store.Tx) { tx.DeleteSession(a.ID) })
	}
	_, err = s.read().Session(a.ID)
	s.checkCode(err, fermata.CodeNotFound)
	_, err = s.read().SessionByHash("h1")
	s.checkCode(err, fermata.CodeNotFound)
	if s.try(func(tx *store.Tx) error { tx.InsertSession(newSession("h2")); return nil }) == nil {
		s.Error("two sessions have one hash")
	}
}

func sessionsOfMember(s *suite) {
	a, b, other := newSession("m1"), newSession("m2"), newSession("m3")
	other.MemberID = "mem_2"
	s.write(func(tx *store.Tx) { tx.InsertSession(a); tx.InsertSession(b); tx.InsertSession(other) })
	s.write(func(tx *store.Tx) { tx.DeleteSessionsOf("mem_1") })
	for member, want := range map[string]int{"mem_1": 0, "mem_2": 1} {
		all, err := s.read().SessionsOf(member)
		s.checkNoError(err)
		s.checkEqual(want, len(all))
	}
}

func sessionsAge(s *suite) {
	old := newSession("h1")
	old.ExpiresAt = old.CreatedAt.Add(-time.Hour)
	s.write(func(tx *store.Tx) { tx.InsertSession(old) })
	s.write(func(tx *store.Tx) { tx.InsertSession(newSession("h2")) })
	_, err := s.read().Session(old.ID)
	s.checkCode(err, fermata.CodeNotFound)
}

func newLink(hash string, method fermata.SignInMethod) *fermata.Link {
	now := fermata.TruncateTime(time.Now())
	l := &fermata.Link{
		ID: fermata.NewID(fermata.PrefixLink, now), WorkspaceID: store.DefaultWorkspace, Hash: hash, Method: method,
		Assurance: fermata.AssuranceSession, MemberID: "mem_1", CreatedBy: alice, CreatedAt: now, CreatorTokenID: "tok_1", ExpiresAt: now.Add(time.Hour),
	}
	if method == fermata.SignInByInvitation {
		l.MemberID, l.Invite = "", &fermata.NewInvitation{Handle: "bob", Name: hardText, Role: fermata.RoleViewer, Groups: []string{hardText}}
	}
	return l
}

func linkRoundTrip(s *suite) {
	link, invitation := newLink("h1", fermata.SignInByLink), newLink("h2", fermata.SignInByInvitation)
	s.write(func(tx *store.Tx) { tx.InsertLink(link); tx.InsertLink(invitation) })
	for hash, want := range map[string]*fermata.Link{"h1": link, "h2": invitation} {
		got, err := s.db.Reader(s.Context(), "").LinkByHash(hash)
		s.checkNoError(err)
		s.checkEqual(want, got)
	}
	old := newLink("h3", fermata.SignInByLink)
	old.ExpiresAt = old.CreatedAt.Add(-time.Hour)
	s.write(func(tx *store.Tx) { tx.InsertLink(old) })
	s.write(func(tx *store.Tx) { tx.InsertLink(newLink("h4", fermata.SignInByMail)) })
	_, err := s.read().LinkByHash("h3")
	s.checkCode(err, fermata.CodeNotFound)
}

func linkOnce(s *suite) {
	l := newLink("h1", fermata.SignInByInvitation)
	s.write(func(tx *store.Tx) { tx.InsertLink(l) })
	l.MemberID = "mem_2"
	s.write(func(tx *store.Tx) { tx.UseLink(l) })
	got, err := s.read().LinkByHash("h1")
	s.checkNoError(err)
	s.checkEqual(l, got)
	if s.try(func(tx *store.Tx) error { tx.UseLink(l); return nil }) == nil {
		s.Error("a link was used twice")
	}
}

func invitationsOpen(s *suite) {
	open, used, late := newLink("h1", fermata.SignInByInvitation), newLink("h2", fermata.SignInByInvitation), newLink("h3", fermata.SignInByInvitation)
	s.write(func(tx *store.Tx) {
		for _, l := range []*fermata.Link{open, used, newLink("h4", fermata.SignInByLink)} {
			tx.InsertLink(l)
		}
		late.ExpiresAt = tx.Now()
		tx.InsertLink(late)
		tx.UseLink(used)
	})
	unused, err := s.read().UnusedLinks(late.ExpiresAt)
	s.checkNoError(err)
	s.checkEqual(2, len(unused))
	all, err := s.read().Invitations(late.ExpiresAt)
	s.checkNoError(err)
	s.checkEqual([]*fermata.Link{open}, all)
	s.write(func(tx *store.Tx) { tx.DeleteLink(open.ID) })
	if s.try(func(tx *store.Tx) error { tx.DeleteLink(open.ID); return nil }) == nil {
		s.Error("an invitation was withdrawn twice")
	}
}

func linksOfMember(s *suite) {
	s.write(func(tx *store.Tx) {
		tx.InsertLink(newLink("h1", fermata.SignInByLink))
		tx.InsertLink(newLink("h2", fermata.SignInByMail))
	})
	count := func() (n int) {
		for _, hash := range []string{"h1", "h2"} {
			if _, err := s.read().LinkByHash(hash); err == nil {
				n++
			}
		}
		return n
	}
	s.write(func(tx *store.Tx) { tx.DeleteLinksOf("mem_1", fermata.SignInByMail); tx.DeleteLinksOf("mem_2", "") })
	s.checkEqual(1, count())
	s.write(func(tx *store.Tx) { tx.DeleteLinksOf("mem_1", "") })
	s.checkEqual(0, count())
}

func flowOnce(s *suite) {
	f := store.Flow{
		Workspace: store.DefaultWorkspace, Kind: "oidc", Data: `{"a":1}`, Hash: "h1", ExpiresAt: fermata.TruncateTime(time.Now()).Add(time.Minute),
	}
	s.write(func(tx *store.Tx) { tx.InsertFlow(f) })
	take := func(kind string) (got store.Flow, err error) {
		err = s.try(func(tx *store.Tx) error {
			got, err = tx.TakeFlow(kind, "h1")
			return err
		})
		return got, err
	}
	_, err := take("passkey")
	s.checkCode(err, fermata.CodeNotFound)
	got, err := take("oidc")
	s.checkNoError(err)
	s.checkEqual(f, got)
	_, err = take("oidc")
	s.checkCode(err, fermata.CodeNotFound)
	old := f
	old.ExpiresAt = old.ExpiresAt.Add(-time.Hour)
	f.Hash = "h2"
	s.write(func(tx *store.Tx) { tx.InsertFlow(old) })
	s.write(func(tx *store.Tx) { tx.InsertFlow(f) })
	_, err = take("oidc")
	s.checkCode(err, fermata.CodeNotFound)
}

func newPasskey(credential string) *fermata.Passkey {
	return &fermata.Passkey{
		ID: id(fermata.PrefixPasskey), MemberID: "mem_1", Name: hardText, CreatedAt: noon, CredentialID: credential, Credential: `{"a":1}`,
	}
}

func passkeyRoundTrip(s *suite) {
	a, b := newPasskey("c1"), newPasskey("c2")
	s.write(func(tx *store.Tx) { tx.InsertPasskey(a); tx.InsertPasskey(b) })
	a.Credential, a.LastUsedAt = `{"a":2}`, ptr(noon.Add(time.Hour))
	s.write(func(tx *store.Tx) { tx.UpdatePasskey(a) })
	all, err := s.read().PasskeysOf("mem_1")
	s.checkNoError(err)
	s.checkEqual([]*fermata.Passkey{a, b}, all)
	all, err = s.read().Passkeys()
	s.checkNoError(err)
	s.checkEqual([]*fermata.Passkey{a, b}, all)
	s.write(func(tx *store.Tx) { tx.DeletePasskey(a.ID) })
	_, err = s.read().Passkey(a.ID)
	s.checkCode(err, fermata.CodeNotFound)
	for _, change := range []func(tx *store.Tx){func(tx *store.Tx) { tx.UpdatePasskey(a) }, func(tx *store.Tx) { tx.DeletePasskey(a.ID) }} {
		if s.try(func(tx *store.Tx) error { change(tx); return nil }) == nil {
			s.Error("a passkey that is not there was changed")
		}
	}
}

func passkeyCredential(s *suite) {
	s.checkUnique(func(tx *store.Tx, _ string) { tx.InsertPasskey(newPasskey("c")) })
}

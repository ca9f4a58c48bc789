package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// whoami is who the token stands for, with the groups of a person.
type whoami struct {
	*client.Whoami
	caller fermata.Caller
}

// whoAmI asks the server who the caller is.
func (s *session) whoAmI(ctx context.Context) (*whoami, error) {
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	me, err := server.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	return &whoami{me, fermata.Caller{
		Kind: me.Kind, MemberID: me.MemberID, Name: me.Name, Role: me.Role, Projects: me.Projects, Groups: me.Groups,
		Scopes: me.Scopes, Assurance: me.Assurance,
	}}, nil
}

// mayAnswer reports whether a question is for the caller, by the rule of the
// server itself.
func (w *whoami) mayAnswer(q *fermata.Question) bool { return q.MayAnswer(w.caller) == nil }

// hasVoted reports whether the caller has had a say already, and others must.
func (w *whoami) hasVoted(q *fermata.Question) bool {
	for _, v := range q.Votes {
		if v.By.ID == w.caller.MemberID {
			return true
		}
	}
	return false
}

// mustBeKnown refuses a question for which the caller is not known strongly enough, before a person does what the server
// refuses then. It asks who the caller is only where a token is not enough.
func (s *session) mustBeKnown(ctx context.Context, q *fermata.Question) error {
	if q.CheckAssurance(fermata.Caller{Assurance: fermata.AssuranceChannel}) == nil {
		return nil
	}
	me, err := s.whoAmI(ctx)
	if err != nil || me.Assurance == "" {
		return err // The server says only of people how they are known.
	}
	return q.CheckAssurance(me.caller)
}

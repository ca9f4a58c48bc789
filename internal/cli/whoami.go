package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// whoami is the identity behind the token, with the groups of a person.
type whoami struct {
	*client.Whoami
	caller fermata.Caller
}

// fetchWhoami asks the server who the caller is.
func (s *session) fetchWhoami(ctx context.Context) (*whoami, error) {
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

// mayAnswer reports whether the caller may answer a question. It uses the same rule as the server.
func (w *whoami) mayAnswer(q *fermata.Question) bool { return q.CheckMayAnswer(w.caller) == nil }

// hasVoted reports whether the caller has already voted on a question.
func (w *whoami) hasVoted(q *fermata.Question) bool {
	for _, v := range q.Votes {
		if v.By.ID == w.caller.MemberID {
			return true
		}
	}
	return false
}

// checkAssurance refuses a question that needs a stronger sign-in than the caller has, before the person does work that
// the server would refuse. It asks the server who the caller is only if a token is not enough.
func (s *session) checkAssurance(ctx context.Context, q *fermata.Question) error {
	if q.CheckAssurance(fermata.Caller{Assurance: fermata.AssuranceChannel}) == nil {
		return nil
	}
	me, err := s.fetchWhoami(ctx)
	if err != nil || me.Assurance == "" {
		return err // the server gives an assurance only for people
	}
	return q.CheckAssurance(me.caller)
}

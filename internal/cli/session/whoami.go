package session

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Whoami is the identity behind the token, with the groups of a person.
type Whoami struct {
	*client.Whoami
	// Caller is the same identity for the rules of package fermata.
	Caller fermata.Caller
}

// FetchWhoami asks the server who the caller is.
func (s *Session) FetchWhoami(ctx context.Context) (*Whoami, error) {
	server, err := s.Server()
	if err != nil {
		return nil, err
	}
	me, err := server.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	return &Whoami{me, fermata.Caller{
		Kind: me.Kind, MemberID: me.MemberID, Name: me.Name, Role: me.Role, Projects: me.Projects, Groups: me.Groups,
		Scopes: me.Scopes, Assurance: me.Assurance,
	}}, nil
}

// IsAsked reports whether a question waits for an answer of the caller. It uses the same rule as the server.
func (w *Whoami) IsAsked(q *fermata.Question) bool { return q.AwaitsAnswerOf(w.Caller) }

// CheckAssurance refuses a question that needs a stronger sign-in than the caller has, before the person does work that
// the server would refuse. It asks the server who the caller is only if a token is not enough.
func (s *Session) CheckAssurance(ctx context.Context, q *fermata.Question) error {
	if q.CheckAssurance(fermata.Caller{Assurance: fermata.AssuranceChannel}) == nil {
		return nil
	}
	me, err := s.FetchWhoami(ctx)
	if err != nil || me.Assurance == "" {
		return err // the server gives an assurance only for people
	}
	return q.CheckAssurance(me.Caller)
}

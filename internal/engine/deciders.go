package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// Deciders returns the members who may decide a question, and the reasons why
// other members may not.
func (e *Engine) Deciders(ctx context.Context, c fermata.Caller, id string) (fermata.Deciders, error) {
	q, err := e.Question(ctx, c, id)
	if err != nil {
		return fermata.Deciders{}, err
	}
	members, err := e.reader(ctx, c).Members()
	if err != nil {
		return fermata.Deciders{}, err
	}
	return q.Deciders(members), nil
}

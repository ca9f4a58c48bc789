package answer

import (
	"strings"

	"github.com/fermata-hq/fermata"
)

// CheckActionHash makes sure that the hash to send is the hash of the shown bytes,
// and that it begins as the person expects.
func CheckActionHash(q *fermata.Question, expected string) error {
	if len(q.Action) > 0 && !fermata.HasHash(q.Action, q.ActionHash) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the action that came does not have the hash that came with it").
			WithHint("nothing was sent; something between here and the server changes what it passes on")
	}
	if expected != "" && !strings.HasPrefix(q.ActionHash, strings.ToLower(expected)) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the action's hash does not begin with %s: it is another action", expected).
			WithHint("nothing was sent; read the action above")
	}
	return nil
}

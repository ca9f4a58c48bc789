package store

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// actor is who did something as columns hold it: a list of three texts, since
// every row has one.
type actor fermata.Actor

func (a actor) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]string{string(a.Kind), a.ID, a.Name})
}

func (a *actor) UnmarshalJSON(data []byte) error {
	var texts [3]string
	err := json.Unmarshal(data, &texts)
	*a = actor{Kind: fermata.ActorKind(texts[0]), ID: texts[1], Name: texts[2]}
	return err
}

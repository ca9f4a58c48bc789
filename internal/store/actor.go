package store

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// actor is a [fermata.Actor] as a column stores it: a JSON list of three texts,
// which is short because every row has one.
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

package delivery_test

import (
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// A secret that was created for a channel is shown once. The stored reply for a repeated call does not contain it.
func TestASecretThatWasMadeIsNotKeptForARepeat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople, options: func(o *delivery.Options) {
			signed := wall.NewKind(delivery.ToPeople)
			signed.Name, signed.Secrets = "signed", append(signed.Secrets, "secret")
			signed.Settings = json.RawMessage(`{"type": "object"}`)
			signed.Prepare = func(_, after json.RawMessage) (json.RawMessage, error) {
				settings := map[string]any{}
				if err := json.Unmarshal(after, &settings); err != nil {
					return nil, err
				}
				settings["secret"] = "made"
				return json.Marshal(settings)
			}
			o.Kinds = append(o.Kinds, signed)
		}})
		once := engine.WithIdempotency(t.Context(), "k", "f")
		n := fermata.NewChannel{Name: "audit", Kind: "signed", Settings: w.wall.Settings(), Disabled: true}
		first, err := w.s.AddChannel(once, admin, n)
		w.OK(err)
		again, err := w.s.AddChannel(once, admin, n)
		w.OK(err)
		if first.Settings["secret"] != "made" || again.ID != first.ID || again.Settings["secret"] != nil {
			t.Errorf("shown first %v, and again %v", first, again)
		}
	})
}

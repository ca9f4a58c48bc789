package delivery_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/push"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// Pages that ask for the key at the same time, before it exists, all get the
// same key. A device with another key would receive no messages.
func TestEverybodyIsGivenTheSameKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople, options: func(o *delivery.Options) {
			o.Kinds = append(o.Kinds, delivery.Kind{
				Name: push.Kind, Audience: delivery.ToPeople, BuiltIn: true, Settings: push.Schema,
				Open: func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) {
					return push.Open(settings, env)
				},
			})
		}})
		w.await("the channel is there", func() bool {
			_, err := w.s.ChannelNamed(t.Context(), admin, fermata.KindPush)
			return err == nil
		})
		keys := make([]string, 16)
		var all sync.WaitGroup
		for i := range keys {
			all.Go(func() {
				key, err := w.s.PushKey(t.Context(), admin)
				if err != nil {
					t.Error(err)
				}
				keys[i] = key
			})
		}
		all.Wait()
		if given := fermata.SortUnique(keys); len(given) != 1 {
			t.Errorf("%d keys were given: %v", len(given), given)
		}
	})
}

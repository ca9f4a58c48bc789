package delivery_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// The stored content of a long message ends with a whole character. PostgreSQL
// does not accept half a character, and the delivery would be sent again and
// again.
func TestALongMessageIsKeptToAWholeLetter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		for _, pad := range []string{"", "x"} {
			action, err := json.Marshal(map[string]string{"text": pad + strings.Repeat("é", 200<<10)})
			w.OK(err)
			q := w.ask(fermata.Ask{Type: fermata.Approval, Title: "Publish it?", Action: action, Assignees: []string{"ann"}})
			for _, d := range w.awaitRest(q) {
				whole, err := w.s.Delivery(t.Context(), admin, d.ID)
				w.OK(err)
				if whole.State != fermata.DeliverySent || !utf8.ValidString(whole.Content) || len(whole.Content) < 250<<10 {
					t.Errorf("%s after %d attempts: %d bytes are kept", whole.State, whole.Attempts, len(whole.Content))
				}
			}
		}
	})
}

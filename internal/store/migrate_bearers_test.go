package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// The migration removes links and reply secrets, and nothing else, from the
// messages that earlier versions stored.
func TestKeptMessagesLoseWhatDecides(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		now := time.UnixMilli(1_800_000_000_000).UTC()
		link := fermata.AnswerLink{Workspace: "default", QuestionID: "q_1", MemberID: "mem_1", ExpiresAt: now}.Sign([]byte("key"))
		var ids []string
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			ids = nil
			for range 450 {
				d := &fermata.Delivery{
					ID: fermata.NewID(fermata.PrefixDelivery, now), ChannelID: "ch_1", Kind: "email", Purpose: "asked", State: fermata.DeliverySent, CreatedAt: now,
				}
				ids, d.UniqueKey = append(ids, d.ID), d.ID
				tx.PlanDelivery(d)
				text := "Which?\nAnswer: https://f.example.com/a/" + link + "\nreply+" + strings.TrimPrefix(d.ID, "dlv_") + "abcdefghijklmnop@example.com"
				d.LastError, d.History = text, []fermata.DeliveryEntry{{At: now, What: "failed", Error: text}}
				d.Content = text
				tx.SaveDelivery(d)
			}
			c := &fermata.Channel{ID: "ch_1", Name: "mail", Kind: "email", Settings: map[string]any{}, CreatedAt: now}
			tx.InsertChannel(c)
			c.LastError = "refused /a/" + link
			tx.SaveChannel(c)
			return nil
		}))
		must(t, store.MigrateDownTo(t.Context(), db, 21))
		must(t, db.Migrate(t.Context()))
		r := db.Reader(t.Context(), store.DefaultWorkspace)
		for _, id := range ids {
			d, err := r.Delivery(id)
			must(t, err)
			want := "Which?\nAnswer: https://f.example.com/a/[removed]\nreply+" + strings.TrimPrefix(id, "dlv_") + "[removed]@example.com"
			if d.Content != want || d.LastError != want || d.History[0].Error != want {
				t.Fatalf("%s keeps %q, %q, %+v; want %q", id, d.Content, d.LastError, d.History, want)
			}
		}
		c, err := r.Channel("ch_1")
		must(t, err)
		if strings.Contains(c.LastError, link) {
			t.Errorf("the channel keeps %q", c.LastError)
		}
	})
}

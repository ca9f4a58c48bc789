package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var deliveryTests = map[string]func(*suite){
	"channel round trip":         channelRoundTrip,
	"a channel's state":          channelState,
	"one process listens":        oneListens,
	"the plan moves on":          planMoves,
	"who is not told is noted":   unreachedIsNoted,
	"delivery round trip":        deliveryRoundTrip,
	"the same is planned once":   plannedOnce,
	"a stale save changes none":  staleDelivery,
	"due ones by channel":        dueByChannel,
	"lists of deliveries":        deliveryLists,
	"a digest is gathered":       digestGathered,
	"a channel that goes":        channelGoes,
	"identities":                 identities,
	"preferences":                preferences,
	"devices":                    devices,
	"keys are made once":         deliveryKeys,
	"what came back counts once": inboundOnce,
	"open pages":                 openPages,
	"links for answering end":    answerLinks,
}

func newChannel(name string) *fermata.Channel {
	return &fermata.Channel{
		ID: id(fermata.PrefixChannel), Name: name, Kind: "wall", Enabled: true, CreatedAt: noon,
		Settings: map[string]any{"text": hardText, "list": []any{"a", 1.5, true}},
	}
}

func (s *suite) addChannel(name string) *fermata.Channel {
	s.Helper()
	c := newChannel(name)
	s.write(func(tx *store.Tx) { tx.InsertChannel(c) })
	return c
}

func channelRoundTrip(s *suite) {
	c := s.addChannel("wall")
	c.Name, c.Enabled, c.LastError = "board", false, hardText
	c.LastSentAt, c.LastErrorAt, c.FailingSince, c.AlertedAt = ptr(noon), ptr(noon.Add(1)), ptr(noon.Add(time.Second)), ptr(noon.Add(time.Hour))
	c.LastErrorAt = ptr(noon.Add(time.Minute))
	s.write(func(tx *store.Tx) { tx.SaveChannel(c) })
	for _, read := range []func() (*fermata.Channel, error){
		func() (*fermata.Channel, error) { return s.read().Channel(c.ID) },
		func() (*fermata.Channel, error) { return s.read().ChannelByName("board") },
	} {
		got, err := read()
		s.checkNoError(err)
		s.checkEqual(c, got)
	}
	stale := *c
	stale.Version--
	if s.try(func(tx *store.Tx) error { tx.SaveChannel(&stale); return nil }) == nil {
		s.Error("a stale channel was saved")
	}
	if s.try(func(tx *store.Tx) error { tx.InsertChannel(newChannel("board")); return nil }) == nil {
		s.Error("two channels have one name")
	}
	all, err := s.read().Channels()
	s.checkNoError(err)
	s.checkEqual(1, len(all))
	others, err := s.db.Reader(s.Context(), "other").Channels()
	s.checkNoError(err)
	s.checkEqual(0, len(others))
}

func channelState(s *suite) {
	c := s.addChannel("wall")
	none, err := s.read().ChannelState(c.ID, "cursor")
	s.checkNoError(err)
	s.checkEqual("", none)
	for _, value := range []string{"1", hardText} {
		s.write(func(tx *store.Tx) { tx.SetChannelState(c.ID, "cursor", value) })
		got, err := s.read().ChannelState(c.ID, "cursor")
		s.checkNoError(err)
		s.checkEqual(value, got)
	}
}

func oneListens(s *suite) {
	c := s.addChannel("wall")
	take := func(process string, lasts time.Duration) bool {
		mine := false
		s.checkNoError(s.try(func(tx *store.Tx) error {
			var err error
			mine, err = tx.TakeListenLease(c.ID, process, tx.Now().Add(lasts))
			return err
		}))
		return mine
	}
	s.checkEqual([]bool{true, false, true}, []bool{take("a", time.Hour), take("b", time.Hour), take("a", -time.Second)})
	s.checkEqual([]bool{true, false}, []bool{take("b", time.Hour), take("a", time.Hour)})
	s.write(func(tx *store.Tx) { tx.EndListenLease(c.ID, "b") })
	s.checkEqual(true, take("a", time.Hour))
}

func planMoves(s *suite) {
	plan, err := s.read().Plan()
	s.checkNoError(err)
	s.checkEqual(store.Plan{Seq: -1, Routes: fermata.DefaultRoutes()}, plan)
	routes := fermata.Routes{Blocking: []fermata.RouteStep{{After: "1m", Channel: "wall", When: fermata.WhenPageClosed}}}
	s.write(func(tx *store.Tx) { tx.SetRoutes(routes) })
	s.write(func(tx *store.Tx) { tx.SetPlanned(7, nil) })
	plan, err = s.read().Plan()
	s.checkNoError(err)
	s.checkEqual(store.Plan{Seq: 7, Routes: routes, Chosen: true}, plan)
}

func newDelivery(c *fermata.Channel, unique string, due time.Time) *fermata.Delivery {
	return &fermata.Delivery{
		ID: id(fermata.PrefixDelivery), QuestionID: "q_1", TaskID: "task_1", ChannelID: c.ID, Kind: c.Kind, Channel: c.Name, Purpose: "asked",
		State: fermata.DeliveryWaiting, NextAt: ptr(due), CreatedAt: noon,
		DeliveryInternals: fermata.DeliveryInternals{UniqueKey: unique, Condition: fermata.WhenAlways},
	}
}

func (s *suite) planDeliveries(all ...*fermata.Delivery) {
	s.Helper()
	s.write(func(tx *store.Tx) {
		for _, d := range all {
			tx.PlanDelivery(d)
		}
	})
}

func deliveryRoundTrip(s *suite) {
	ann := newMember("ann")
	s.write(func(tx *store.Tx) { tx.InsertMember(ann) })
	d := newDelivery(s.addChannel("wall"), "a", noon)
	d.MemberID, d.Member, d.DeviceID, d.Reason, d.EventSeq, d.WantedEvent, d.Title, d.Body = ann.ID, "ann", "dev_1", hardText, 3, 4, hardText, hardText
	s.planDeliveries(d)
	d.State, d.Reason, d.Condition, d.Attempts, d.FailedTries, d.Deferrals, d.LastError = fermata.DeliverySent, "x", fermata.WhenPageClosed, 1, 2, 3, hardText
	d.NextAt, d.LeasedUntil, d.SentAt, d.UpdatedAt = nil, ptr(noon), ptr(noon.Add(time.Second)), ptr(noon.Add(time.Minute))
	d.ShownStatus, d.WantedEvent, d.ShownEvent, d.CanDecide, d.Ref, d.Purpose = fermata.Answered, 9, 8, true, json.RawMessage(`{"a":1}`), "digest"
	d.History = []fermata.DeliveryEntry{{At: noon, What: "failed", Error: hardText}}
	d.Content = hardText
	s.write(func(tx *store.Tx) { tx.SaveDelivery(d) })
	d.Content = ""
	s.write(func(tx *store.Tx) { tx.SaveDelivery(d) })
	all, err := s.read().DeliveriesByID([]string{d.ID})
	s.checkNoError(err)
	s.checkEqual([]*fermata.Delivery{d}, all)
	got, err := s.read().Delivery(d.ID)
	s.checkNoError(err)
	d.Content = hardText
	s.checkEqual(d, got)
	none, err := s.read().DeliveriesByID(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(none))
}

func plannedOnce(s *suite) {
	c := s.addChannel("wall")
	s.planDeliveries(newDelivery(c, "a", noon), newDelivery(c, "b", noon))
	s.planDeliveries(newDelivery(c, "a", noon))
	all, err := s.read().DeliveriesOf([]string{"q_1", "q_2"})
	s.checkNoError(err)
	s.checkEqual(2, len(all))
	none, err := s.read().DeliveriesOf(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(none))
}

func staleDelivery(s *suite) {
	d := newDelivery(s.addChannel("wall"), "a", noon)
	s.planDeliveries(d)
	stale := *d
	s.write(func(tx *store.Tx) { tx.SaveDelivery(d) })
	if s.try(func(tx *store.Tx) error { tx.SaveDelivery(&stale); return nil }) == nil {
		s.Error("a delivery was saved over a change")
	}
}

func dueByChannel(s *suite) {
	wall, board := s.addChannel("wall"), s.addChannel("board")
	late, early, future := newDelivery(wall, "a", noon), newDelivery(wall, "b", noon.Add(-time.Hour)), newDelivery(wall, "c", noon.Add(time.Hour))
	rests := newDelivery(board, "d", noon)
	rests.NextAt = nil
	s.planDeliveries(late, early, future, rests)
	due, err := s.db.DueDeliveries(s.Context(), wall.ID, noon, 10)
	s.checkNoError(err)
	s.checkEqual([]store.DueRow{{Workspace: store.DefaultWorkspace, ID: early.ID}, {Workspace: store.DefaultWorkspace, ID: late.ID}}, due)
	next, found, err := s.db.NextDelivery(s.Context(), wall.ID)
	s.checkNoError(err)
	s.checkEqual(true, found && next.Equal(*early.NextAt))
	_, found, err = s.db.NextDelivery(s.Context(), board.ID)
	s.checkNoError(err)
	s.checkEqual(false, found)
}

func deliveryLists(s *suite) {
	wall, board := s.addChannel("wall"), s.addChannel("board")
	var all []*fermata.Delivery
	for i := range 4 {
		d := newDelivery([]*fermata.Channel{wall, board}[i%2], fmt.Sprint(i), noon)
		d.QuestionID, d.MemberID = fmt.Sprint("q_", i/2), fmt.Sprint("mem_", i)
		all = append(all, d)
	}
	all[3].State, all[3].NextAt = fermata.DeliverySkipped, nil
	look := newDelivery(wall, "w", noon)
	look.Kind = "watch"
	s.planDeliveries(append(all, look)...)
	for want, f := range map[string]store.DeliveryFilter{
		"3 2 1 0": {Limit: 10}, "3 2": {Limit: 2}, "1 0": {Limit: 10, Before: all[2].ID}, "3 1": {Limit: 10, ChannelID: board.ID},
		"3": {Limit: 10, State: "skipped"}, "1": {Limit: 10, MemberID: "mem_1"},
	} {
		found, err := s.read().Deliveries(f)
		s.checkNoError(err)
		got := ""
		for _, d := range found {
			got += " " + d.UniqueKey
		}
		s.checkEqual(" "+want, got)
	}
	found, err := s.read().Deliveries(store.DeliveryFilter{QuestionID: "q_1", Limit: 10})
	s.checkNoError(err)
	s.checkEqual(2, len(found))
}

func digestGathered(s *suite) {
	wall := s.addChannel("wall")
	in, other, later, leased := newDelivery(wall, "a", noon), newDelivery(wall, "b", noon), newDelivery(wall, "c", noon.Add(time.Hour)), newDelivery(wall, "d", noon)
	for _, d := range []*fermata.Delivery{in, other, later, leased} {
		d.Purpose, d.MemberID = "digest", "mem_1"
	}
	other.MemberID = "mem_2"
	s.planDeliveries(in, other, later, leased)
	leased.LeasedUntil = ptr(noon)
	s.write(func(tx *store.Tx) { tx.SaveDelivery(leased) })
	found, err := s.read().WaitingDigest(wall.ID, "mem_1", "", noon)
	s.checkNoError(err)
	s.checkEqual(1, len(found))
	s.checkEqual(in.ID, found[0].ID)
}

func channelGoes(s *suite) {
	wall := s.addChannel("wall")
	waits, sent := newDelivery(wall, "a", noon), newDelivery(wall, "b", noon)
	again := newDelivery(wall, "c", noon)
	s.planDeliveries(waits, sent, again)
	later := time.Now().Add(time.Hour)
	sent.State, sent.FailedTries, sent.NextAt = fermata.DeliverySent, 1, &later
	again.Ref = json.RawMessage(`"3"`)
	s.write(func(tx *store.Tx) { tx.SaveDelivery(sent); tx.SaveDelivery(again) })
	s.write(func(tx *store.Tx) { tx.RetryDeliveriesOf(wall.ID) })
	hastened, err := s.read().Delivery(sent.ID)
	s.checkNoError(err)
	s.checkEqual(true, hastened.NextAt.Before(later))
	s.write(func(tx *store.Tx) {
		tx.SetChannelState(wall.ID, "a", "b")
		tx.SaveInboundVerdict(wall.ID, "1", json.RawMessage("{}"))
		tx.SkipDeliveriesOf(wall.ID, fermata.SkippedChannelGone)
	})
	stands, err := s.read().Delivery(again.ID)
	s.checkNoError(err)
	s.checkEqual(true, stands.State == fermata.DeliverySent && stands.Reason == "" && stands.NextAt != nil)
	s.write(func(tx *store.Tx) {
		tx.EndDeliveriesOf(wall.ID)
		tx.DeleteChannel(wall.ID)
	})
	all, err := s.read().DeliveriesByID([]string{waits.ID, sent.ID, again.ID})
	s.checkNoError(err)
	states := []fermata.DeliveryState{}
	for _, d := range all {
		states = append(states, d.State)
		s.checkEqual(true, d.NextAt == nil && d.Channel == "")
	}
	s.checkEqual([]fermata.DeliveryState{fermata.DeliverySkipped, fermata.DeliverySent, fermata.DeliverySent}, states)
	if s.try(func(tx *store.Tx) error { tx.DeleteChannel(wall.ID); return nil }) == nil {
		s.Error("a channel was removed twice")
	}
}

func identities(s *suite) {
	ann, bob := newMember("ann"), newMember("bob")
	is := func(m *fermata.Member, kind, as string) fermata.Identity {
		return fermata.Identity{Kind: kind, ID: as, Name: hardText, MemberID: m.ID, Member: m.Handle, CreatedAt: noon}
	}
	s.write(func(tx *store.Tx) {
		tx.InsertMember(ann)
		tx.InsertMember(bob)
		tx.SetIdentity(is(ann, "slack", "U1"))
		tx.SetIdentity(is(ann, "github", "7"))
		tx.SetIdentity(is(bob, "slack", "U2"))
	})
	s.write(func(tx *store.Tx) { tx.SetIdentity(is(ann, "slack", "U3")) })
	got, err := s.read().Identity("slack", "U3")
	s.checkNoError(err)
	s.checkEqual(is(ann, "slack", "U3"), got)
	_, err = s.read().Identity("slack", "U1")
	s.checkCode(err, fermata.CodeNotFound)
	if s.try(func(tx *store.Tx) error { tx.SetIdentity(is(bob, "slack", "U3")); return nil }) == nil {
		s.Error("two members are one user")
	}
	s.write(func(tx *store.Tx) { tx.DeleteIdentity(bob.ID, "slack") })
	all, err := s.read().Identities()
	s.checkNoError(err)
	mine, err := s.read().IdentitiesOf(ann.ID)
	s.checkNoError(err)
	s.checkEqual(mine, all)
	s.checkEqual(2, len(all))
}

func preferences(s *suite) {
	none, err := s.read().Preferences(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	want := fermata.Preferences{
		Zone: "Europe/Berlin", Digest: fermata.DigestDaily, Quiet: &fermata.QuietHours{From: "22:00", To: "07:00", Days: []string{"mon"}, Urgent: true},
		Channels: map[string]fermata.ChannelPreference{"email": {Blocking: ptr(false)}},
	}
	s.write(func(tx *store.Tx) { tx.SetPreferences("mem_1", fermata.Preferences{Zone: "UTC"}) })
	s.write(func(tx *store.Tx) { tx.SetPreferences("mem_1", want) })
	got, err := s.read().Preferences([]string{"mem_1", "mem_2"})
	s.checkNoError(err)
	s.checkEqual(map[string]fermata.Preferences{"mem_1": want}, got)
}

func devices(s *suite) {
	newDevice := func(member, endpoint string) *fermata.Device {
		return &fermata.Device{
			ID: id(fermata.PrefixDevice), MemberID: member, Name: hardText, AddedAt: noon,
			Subscription: fermata.PushSubscription{Endpoint: endpoint, Keys: fermata.PushKeys{P256DH: "a", Auth: "b"}},
		}
	}
	// held is the device with a holder, which a new sign-in takes over.
	held := newDevice("mem_3", "https://push.example/3")
	held.Holder = "ses_1"
	s.write(func(tx *store.Tx) {
		tx.InsertDevice(held)
		tx.MoveDevices("mem_1", "ses_1", "ses_3")
		tx.MoveDevices("mem_3", "ses_2", "ses_3")
	})
	got, err := s.read().Device(held.ID)
	s.checkNoError(err)
	s.checkEqual(held, got)
	s.write(func(tx *store.Tx) { tx.MoveDevices("mem_3", "ses_1", "ses_2") })
	held.Holder = "ses_2"
	got, err = s.read().Device(held.ID)
	s.checkNoError(err)
	s.checkEqual(held, got)
	s.write(func(tx *store.Tx) { tx.DeleteDevice(held.ID) })

	first, second, third := newDevice("mem_1", "https://push.example/1"), newDevice("mem_1", "https://push.example/2"), newDevice("mem_2", "https://push.example/1")
	s.write(func(tx *store.Tx) { tx.InsertDevice(first); tx.InsertDevice(second) })
	s.write(func(tx *store.Tx) { tx.InsertDevice(third); tx.TouchDevice(second.ID, noon) })
	second.LastSentAt = ptr(noon)
	mine, err := s.read().DevicesOf("mem_1")
	s.checkNoError(err)
	s.checkEqual([]*fermata.Device{second}, mine)
	got, err = s.read().Device(third.ID)
	s.checkNoError(err)
	s.checkEqual(third, got)
	s.write(func(tx *store.Tx) { tx.DeleteDevice(third.ID); tx.DeleteDevice(third.ID) })
	all, err := s.read().Devices()
	s.checkNoError(err)
	s.checkEqual(mine, all)
}

func deliveryKeys(s *suite) {
	none, err := s.read().DeliveryKey("a")
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	get := func(name string, create func() ([]byte, error)) (key []byte) {
		s.checkNoError(s.try(func(tx *store.Tx) error {
			var err error
			key, err = tx.DeliveryKey(name, create)
			return err
		}))
		return key
	}
	first := get("a", nil)
	s.checkEqual(32, len(first))
	s.checkEqual(first, get("a", nil))
	s.checkEqual([]byte("x"), get("b", func() ([]byte, error) { return []byte("x"), nil }))
	stored, err := s.read().DeliveryKey("a")
	s.checkNoError(err)
	s.checkEqual(first, stored)
}

func inboundOnce(s *suite) {
	for _, verdict := range []string{`{"words":"first"}`, `{"words":"second"}`} {
		s.write(func(tx *store.Tx) { tx.SaveInboundVerdict("ch_1", hardText, json.RawMessage(verdict)) })
	}
	got, err := s.read().InboundVerdict("ch_1", hardText)
	s.checkNoError(err)
	s.checkEqual(`{"words":"first"}`, string(got))
	s.write(func(tx *store.Tx) { tx.DeleteInboundVerdicts(tx.Now().Add(time.Hour)) })
	got, err = s.read().InboundVerdict("ch_1", hardText)
	s.checkNoError(err)
	s.checkEqual(0, len(got))
}

func openPages(s *suite) {
	now, err := s.db.Now(s.Context())
	s.checkNoError(err)
	s.write(func(tx *store.Tx) {
		tx.SetOpenPages("a", []string{"mem_1", "mem_2"}, now.Add(time.Hour))
		tx.SetOpenPages("b", nil, now.Add(time.Hour))
		tx.SetOpenPages("c", []string{"mem_3"}, now.Add(-time.Hour))
	})
	s.write(func(tx *store.Tx) { tx.SetOpenPages("b", []string{"mem_4"}, now.Add(time.Hour)) })
	others, err := s.read().MembersWithOpenPage("b", now)
	s.checkNoError(err)
	if diff := cmp.Diff([]string{"mem_1", "mem_2"}, others, cmpopts.EquateEmpty()); diff != "" {
		s.Error(diff)
	}
}

func answerLinks(s *suite) {
	for want := range int64(3) {
		got, err := s.read().AnswerLinkGeneration("mem_1")
		s.checkNoError(err)
		s.checkEqual(want, got)
		s.write(func(tx *store.Tx) { tx.RevokeAnswerLinks("mem_1") })
	}
	other, err := s.read().AnswerLinkGeneration("mem_2")
	s.checkNoError(err)
	s.checkEqual(int64(0), other)
}

func unreachedIsNoted(s *suite) {
	q := s.addQuestion(func(q *fermata.Question) { q.UnreachedReason = "there is no route for it" })
	got, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual("there is no route for it", got.UnreachedReason)
	s.write(func(tx *store.Tx) { tx.SetUnreached(got, "") })
	after, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual("", after.UnreachedReason)
	s.checkEqual(got.Version, after.Version)
}

package webhooks

import (
	"net/http"
	"slices"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standin "github.com/fermata-hq/fermata/test/standin/webhook"
)

// faults are the possible faults of one request in five. Busy is not among them:
// its Retry-After delays the whole channel, so it is rare.
var faults = []standin.Fault{
	standin.Drop, standin.Drop, standin.DropAfter, standin.DropAfter, standin.Truncate, standin.Truncate, standin.Fail, standin.Fail,
	standin.Slow, standin.Redirect,
}

const faultyPercent = 20

// Every event arrives at least once, although the receiver has faults and the
// server is killed. An event that arrives twice has the same id both times.
func TestEveryDeliveryArrives(t *testing.T) {
	t.Parallel()
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		t.Parallel()
		w := begin(t, database)
		random := process.NewRandom(t)
		r := standin.New(t)
		r.DiscardBodies()
		r.SetFaults(func(a *standin.Attempt) standin.Fault {
			switch {
			case a.Number%(deliveries/4) == 0:
				return standin.Busy
			case a.Try > faultyTries || !random.Chance(faultyPercent):
				return standin.None
			default:
				return faults[random.N(len(faults))]
			}
		})
		settings := r.Settings()
		settings["events"] = []string{"task.created"}
		w.addChannel("lab", settings)
		made := make(chan struct{})
		go func() {
			defer close(made)
			w.createTasks(deliveries)
		}()
		for n := range kills {
			at := (n + 1) * deliveries / (kills + 1)
			patience.Await(t, "the load goes on", func() bool { return r.ReceivedCount() >= at })
			w.kill()
		}
		patience.Receive(t, "all tasks are created", made)
		want := w.created()
		if len(want) != deliveries {
			t.Fatalf("%d tasks were created, want %d", len(want), deliveries)
		}
		// The call of arrived reports missing events.
		patience.Until(func() bool { return len(r.AcceptedCounts()) >= deliveries })
		arrived(t, r, want)
		patience.Await(t, "every delivery is sent", func() bool {
			return len(w.deliveries("lab", "waiting")) == 0 && len(w.deliveries("lab", "failed")) == 0
		})
		if dead := w.deliveries("lab", "dead"); len(dead) > 0 {
			t.Errorf("%d deliveries were given up, the first %+v", len(dead), dead[0])
		}
		arrived(t, r, want)
	})
}

// arrived compares the events that the receiver accepted with those that happened.
func arrived(t *testing.T, r *standin.Receiver, want map[int64]bool) {
	t.Helper()
	twice := 0
	for _, n := range r.AcceptedCounts() {
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d requests, %d deliveries taken, %d of them more than once", r.ReceivedCount(), len(r.AcceptedCounts()), twice)
	ids := map[int64]string{}
	for id, seq := range r.Seqs() {
		if other, ok := ids[seq]; ok {
			t.Errorf("event %d has two ids: %s and %s", seq, id, other)
		}
		if ids[seq] = id; !want[seq] {
			t.Errorf("event %d arrived and did not happen", seq)
		}
	}
	var missing []int64
	for seq := range want {
		if ids[seq] == "" {
			missing = append(missing, seq)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("%d events did not arrive: %v", len(missing), missing[:min(len(missing), 20)])
	}
	if r.ChangedCount() > 0 || r.ForgedCount() > 0 {
		t.Errorf("%d requests differ from the first with their id, %d have no valid signature", r.ChangedCount(), r.ForgedCount())
	}
}

func TestBrokenReceiverDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, process.SQLite(t))
	works := standin.New(t)
	for name, fault := range map[string]standin.Fault{"hangs": standin.Hang, "fails": standin.Fail, "drops": standin.Drop} {
		r := standin.New(t)
		r.SetFaults(func(*standin.Attempt) standin.Fault { return fault })
		w.addChannel(name, r.Settings())
	}
	settings := works.Settings()
	settings["events"] = []string{"task.created"}
	w.addChannel("works", settings)
	const n = 100
	w.createTasks(n)
	// The receiver that hangs costs fifteen seconds for each delivery.
	patience.Await(t, "the receiver that works has everything", func() bool { return len(works.AcceptedCounts()) == n })
	if c := w.channel("fails"); c.LastError == "" || !c.Enabled {
		t.Errorf("the channel that fails: %+v", c)
	}
}

func TestSecretIsChangedWithoutAGap(t *testing.T) {
	t.Parallel()
	w := begin(t, process.SQLite(t))
	r := standin.New(t)
	settings := r.Settings()
	delete(settings, "secret")
	settings["events"] = []string{"task.created"}
	first := secretOf(w.addChannel("hook", settings))
	if first == "" || secretOf(w.channel("hook")) != "" {
		t.Fatalf("the new secret is %q, and shown later: %v", first, w.channel("hook").Settings)
	}
	arrives := func(what string, secrets ...string) {
		t.Helper()
		r.SetSecrets(secrets...)
		n := len(r.AcceptedCounts())
		w.createTasks(1)
		patience.Await(t, what, func() bool { return len(r.AcceptedCounts()) == n+1 })
	}
	arrives("a receiver with the secret", first)
	var changed channel
	w.call(http.MethodPatch, "/v1/channels/hook", map[string]any{"settings": map[string]any{"secret": "generate"}}, &changed)
	second := secretOf(changed)
	if second == "" || second == first {
		t.Fatalf("the changed secret is %q", second)
	}
	arrives("a receiver that has the old secret still", first)
	arrives("a receiver that has the new secret", second)
	w.call(http.MethodPatch, "/v1/channels/hook", map[string]any{"settings": map[string]any{"previous_secret": nil}}, nil)
	arrives("a receiver after the change", second)
	r.SetSecrets(first)
	w.createTasks(1)
	patience.Await(t, "the old secret is not valid any more", func() bool { return r.ForgedCount() == 1 })
}

func TestReceiverThatIsGoneSwitchesTheChannelOff(t *testing.T) {
	t.Parallel()
	w := begin(t, process.SQLite(t))
	r := standin.New(t)
	r.SetFaults(func(*standin.Attempt) standin.Fault { return standin.Gone })
	settings := r.Settings()
	settings["events"] = []string{"task.created"}
	w.addChannel("hook", settings)
	w.createTasks(1)
	patience.Await(t, "the channel is switched off", func() bool { return !w.channel("hook").Enabled })
	w.createTasks(1)
	dead := w.deliveries("hook", "dead")
	if len(dead) != 1 || r.ReceivedCount() != 1 {
		t.Fatalf("%d requests came, these were given up: %+v", r.ReceivedCount(), dead)
	}
	if c := w.channel("hook"); c.LastError == "" {
		t.Errorf("the channel does not say why: %+v", c)
	}
	r.SetFaults(nil)
	w.call(http.MethodPatch, "/v1/channels/hook", map[string]any{"enabled": true}, nil)
	w.call(http.MethodPost, "/v1/deliveries/"+dead[0].ID+"/redeliver", nil, nil)
	patience.Await(t, "it arrives after all", func() bool { return r.AcceptedCounts()[dead[0].ID] == 1 })
}

func TestRedelivery(t *testing.T) {
	t.Parallel()
	w := begin(t, process.SQLite(t))
	r := standin.New(t)
	settings := r.Settings()
	settings["events"] = []string{"task.created"}
	w.addChannel("hook", settings)
	w.createTasks(1)
	var sent []delivery
	patience.Await(t, "it is sent", func() bool {
		sent = w.deliveries("hook", "sent")
		return len(sent) == 1
	})
	w.call(http.MethodPost, "/v1/deliveries/"+sent[0].ID+"/redeliver", nil, nil)
	patience.Await(t, "it arrives again", func() bool { return r.AcceptedCounts()[sent[0].ID] == 2 })
	if r.ChangedCount() > 0 {
		t.Error("the repetition differs")
	}
}

func TestPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	w := begin(t, process.SQLite(t))
	r := standin.New(t)
	settings := r.Settings()
	delete(settings, "allow_private")
	w.addChannel("hook", settings)
	var result struct {
		OK       bool `json:"ok"`
		Problems []struct {
			Message string `json:"message"`
			Hint    string `json:"hint"`
		} `json:"problems"`
	}
	w.call(http.MethodPost, "/v1/channels/hook/test", map[string]any{}, &result)
	if result.OK || len(result.Problems) == 0 || result.Problems[0].Hint == "" || r.ReceivedCount() != 0 {
		t.Errorf("%+v, %d requests came", result, r.ReceivedCount())
	}
}

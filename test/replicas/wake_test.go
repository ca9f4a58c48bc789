package replicas

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"slices"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// A replica rescans the database once a second, and a wake-up is much faster. The gate does not measure it. It tests
// wake-ups with an engine that never rescans (internal/engine, TestReplicaHears).
const (
	wakeWithin = 200 * time.Millisecond
	// tries is how often the measurement is repeated, because the machine may be
	// busy. One fast try is enough: without wake-ups, no try would be fast.
	tries = 5
)

// hereAndThere returns clients of the two replicas, and a worker of the second.
func hereAndThere(t *testing.T) (here, there, worker *client.Client) {
	t.Helper()
	_, servers := pair(t)
	token := servers[0].FirstToken
	here = process.NewLoadBalancer(t, servers[0]).Client(t, token)
	made, err := here.CreateToken(t.Context(), fermata.NewToken{Name: "worker", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeWork}})
	if err != nil {
		t.Fatal(err)
	}
	front := process.NewLoadBalancer(t, servers[1])
	return here, front.Client(t, token), front.Client(t, made.Secret)
}

func TestAnswerWakesAWaiterElsewhere(t *testing.T) {
	here, there, _ := hereAndThere(t)
	measure(t, "an answer", func() time.Duration {
		q, err := here.AskOutside(t.Context(), client.OutsideQuestion{Ask: fermata.Ask{Question: "Which?"}})
		if err != nil {
			t.Fatal(err)
		}
		return latency(t, there, func(ctx context.Context) error {
			got, err := there.WaitQuestion(ctx, q.ID, patience.Limit())
			if err == nil && got.Status != fermata.Answered {
				err = fmt.Errorf("the question is %s", got.Status)
			}
			return err
		}, func() error {
			_, err := here.Answer(t.Context(), q.ID, fermata.Answer{Answer: "this"})
			return err
		})
	})
}

func TestTaskWakesAWorkerElsewhere(t *testing.T) {
	here, there, worker := hereAndThere(t)
	measure(t, "a task", func() time.Duration {
		return latency(t, there, func(ctx context.Context) error {
			_, err := worker.Claim(ctx, fermata.ClaimRequest{Worker: "there", WaitSeconds: 60})
			return err
		}, func() error {
			_, err := here.CreateTask(t.Context(), fermata.NewTask{Title: "Wake up"})
			return err
		})
	})
}

// latency starts the wait, acts when the other replica has begun to wait, and
// returns the time from the act to the end of the wait.
func latency(t *testing.T, there *client.Client, wait func(context.Context) error, act func() error) time.Duration {
	t.Helper()
	sent := make(chan struct{}, 8)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { sent <- struct{}{} },
	})
	ended := make(chan error, 1)
	go func() { ended <- wait(ctx) }()
	patience.Receive(t, "the request is sent", sent)
	// When later requests have got their replies, the wait has begun.
	for range 3 {
		if _, err := there.Whoami(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("the wait was over before anything happened: %v", err)
	default:
	}
	began := time.Now()
	if err := act(); err != nil {
		t.Fatal(err)
	}
	if err := patience.Receive(t, "the wait ends", ended); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func measure(t *testing.T, what string, once func() time.Duration) {
	t.Helper()
	var took []time.Duration
	for range tries {
		took = took[:0]
		for range wakes {
			took = append(took, once())
		}
		slices.Sort(took)
		t.Logf("%s wakes a waiter at the other replica: median %s, longest %s", what, took[wakes/2], took[wakes-1])
		if !measured || took[wakes/2] < wakeWithin {
			return
		}
	}
	t.Errorf("the median is %s, not below %s: %v", took[wakes/2], wakeWithin, took)
}

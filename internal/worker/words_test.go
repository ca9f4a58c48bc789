//go:build unix

package worker_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// inattentiveRunner is a runner whose first agent does some work, gets a message, and ends with the given result without
// reading the message.
type inattentiveRunner struct {
	first   fermata.Result
	runs    atomic.Int32
	handed  chan string
	waiting chan struct{}
}

func (*inattentiveRunner) Name() string { return "inattentive" }

func (r *inattentiveRunner) Run(ctx context.Context, claim *fermata.Claim, handle worker.RunHandle) (fermata.Finish, error) {
	r.handed <- claim.Context.Text
	handle.(interface{ MarkTold(*fermata.ResumeContext) }).MarkTold(claim.Context)
	if r.runs.Add(1) > 1 {
		return fermata.Finish{Result: fermata.ResultFailed, Summary: "no paint"}, nil
	}
	if err := os.WriteFile(filepath.Join(handle.Dir(), "fence.txt"), []byte("red\n"), 0o600); err != nil {
		return fermata.Finish{}, err
	}
	close(r.waiting)
	select {
	case <-handle.Inbox():
		return fermata.Finish{Result: r.first, Summary: "red"}, nil
	case <-ctx.Done():
		return fermata.Finish{}, context.Cause(ctx)
	}
}

// A message that arrives while the agent ends is handed to the next run, in the same working copy. The commits of a
// completed run stay even if the next run fails. The changes of a failed run are rolled back only when its task ends.
func TestTaskGoesOnOverUnheardWords(t *testing.T) {
	t.Parallel()
	for first, kept := range map[fermata.Result]bool{fermata.ResultCompleted: true, fermata.ResultFailed: false} {
		t.Run(string(first), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := &inattentiveRunner{first: first, handed: make(chan string, 2), waiting: make(chan struct{})}
			task, err := w.agent.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Runner: r.Name()})
			testkit.OK(t, err)
			wk, err := worker.New(w.agent, worker.Options{Name: "w1", Copies: w.copies, Runners: []worker.Runner{r}, Lease: longLease})
			testkit.OK(t, err)
			ctx, stop := context.WithCancel(t.Context())
			end := make(chan error, 1)
			go func() { end <- wk.Run(ctx) }()
			defer func() { stop(); testkit.OK(t, patience.Receive(t, "the worker ends", end)) }()
			patience.Receive(t, "the run waits", r.waiting)
			m, err := w.person.PostMessage(t.Context(), task.ID, "green, please")
			testkit.OK(t, err)
			done := w.awaitState(task.ID, fermata.TaskFailed)
			patience.Receive(t, "the first run is handed its text", r.handed)
			if told := patience.Receive(t, "the second run is handed its text", r.handed); !strings.Contains(told, "green, please") {
				t.Errorf("the second run was handed %q", told)
			}
			w.awaitRelease(task)
			files := run(t, w.repo, "ls-tree", "--name-only", "fermata/"+task.ID)
			if strings.Contains(files, "fence.txt") != kept || done.Runs != 2 {
				t.Errorf("after %d runs the branch has %q", done.Runs, files)
			}
			all, _, err := w.person.Messages(t.Context(), task.ID, "", 0)
			testkit.OK(t, err)
			if all[0].ID != m.ID || all[0].Handoff != fermata.HandoffHanded || all[0].HandedTo != done.RunID {
				t.Errorf("the receipt is %+v", all[0])
			}
		})
	}
}

// An agent that could not be run was told nothing. The message of its run waits until the task is reopened, and the
// task does not retry for ever.
func TestUnstartedAgentWasToldNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, err := w.agent.CreateTask(t.Context(), fermata.NewTask{
		Title: "Paint", Runner: "command", MaxAttempts: 2, Spec: []byte(`{"command":["/none/there"]}`),
	})
	testkit.OK(t, err)
	_, err = w.person.PostMessage(t.Context(), task.ID, "green, please")
	testkit.OK(t, err)
	w.runOnce()
	if got := w.awaitState(task.ID, fermata.TaskFailed); got.Runs != 2 {
		t.Errorf("it failed after %d runs", got.Runs)
	}
	all, _, err := w.person.Messages(t.Context(), task.ID, "", 0)
	testkit.OK(t, err)
	if all[0].Handoff != fermata.HandoffEnded || all[0].HandedTo != "" {
		t.Errorf("the receipt is %+v", all[0])
	}
}

// lossyServer loses the reply of the first heartbeat that hands over messages.
type lossyServer struct {
	worker.Server
	lost atomic.Bool
}

func (l *lossyServer) Heartbeat(ctx context.Context, run string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error) {
	reply, err := l.Server.Heartbeat(ctx, run, h)
	if err == nil && reply.Context != nil && l.lost.CompareAndSwap(false, true) {
		return nil, errors.New("the connection broke")
	}
	return reply, err
}

// Messages whose reply was lost reach the working agent, and not only the next run.
func TestWordsOfALostReplyReachTheAgentAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	task := w.task("Paint", `echo ready >`+name+`
		until [ -s "$FERMATA_INBOX" ]; do sleep 0.02; done
		grep -q 'use less paint' "$FERMATA_INBOX" && `+completed)
	server := &lossyServer{Server: w.agent}
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Copies: w.copies, Lease: longLease, Runners: []worker.Runner{command.NewShell(command.Options{})},
	})
	testkit.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- wk.Run(ctx) }()
	awaitReady(t, name)
	w.awaitWorkDir(task)
	_, err = w.person.PostMessage(t.Context(), task.ID, "use less paint")
	testkit.OK(t, err)
	w.awaitState(task.ID, fermata.TaskDone)
	if !server.lost.Load() {
		t.Error("no reply was lost")
	}
	cancel()
	testkit.OK(t, patience.Receive(t, "the worker ends", end))
}

// claimReplyLoser loses the reply to the first claim, and then does not reach the server for a while.
type claimReplyLoser struct {
	http.RoundTripper
	lost atomic.Int32
}

func (l *claimReplyLoser) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := l.RoundTripper.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/claims") || reply.StatusCode != http.StatusOK || l.lost.Add(1) > 1 {
		return reply, err
	}
	_ = reply.Body.Close()
	return nil, errors.New("the connection broke")
}

// If the reply to a claim was lost, the worker gets the task at once, and not only when the lease ends.
func TestAClaimWhoseReplyIsLostIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	network := &http.Transport{}
	t.Cleanup(network.CloseIdleConnections)
	transport := &claimReplyLoser{RoundTripper: network}
	token, err := w.person.CreateToken(t.Context(), fermata.NewToken{Name: "other", Scopes: []fermata.Scope{fermata.ScopeWork}})
	testkit.OK(t, err)
	w.agent, err = client.New(w.server.URL, token.Secret, client.WithHTTPClient(&http.Client{Transport: transport}), client.WithoutRetries())
	testkit.OK(t, err)
	task := w.task("Paint", completed)
	w.start(worker.Options{Lease: longLease})
	if done := w.awaitState(task.ID, fermata.TaskDone); done.Runs != 1 || transport.lost.Load() == 0 {
		t.Errorf("it took %d runs", done.Runs)
	}
}

package seams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
)

// slots is how many agents run at the same time, realSlots how many of Claude Code.
const (
	slots     = 24
	realSlots = 3
)

// Leases of the worker. calmLease is long, because nothing is killed and because heartbeats must be rare: a heartbeat
// would deliver by chance a word that must be delivered at once.
const (
	calmLease  = 10 * time.Minute
	roughLease = 2 * time.Second
	// realLease is longer, because a worker beside several Claude Code processes is slow.
	realLease = 5 * time.Second
)

// person is a user or a program with a token.
type person struct {
	name  string
	token string
	*client.Client
}

// World is a server, a worker and the people who use them.
type World struct {
	testing.TB
	binary, puppet, address, folder string
	database                        []string
	kind                            Kind
	rough                           bool
	pace                            pace

	server   *process.Server
	balancer *process.LoadBalancer
	worker   *process.Child
	// serverTB and workerTB are the test as the server and the worker see it.
	serverTB, workerTB *processTB

	bell   *changeSignal
	ledger *ledger
	hub    *agentHub
	// admin created the others. alice and bob may decide, carol may only watch. agents and workerPerson have the tokens
	// of agents and of the worker. stranger has the token of another worker. readerPerson may only read.
	admin, alice, bob, carol, agents, workerPerson, stranger, readerPerson *person

	// claude is nil if the agents are the tests' own.
	claude *Claude
	// titles maps the titles of tasks to their ids.
	titles sync.Map

	words atomic.Int64
	keys  atomic.Int64
	// workers is the number of times that a worker started or ended.
	workers atomic.Int64
	// disturbed counts the faults so far.
	disturbed atomic.Int64
}

// Kind is a kind of world.
type Kind int

// Kinds of worlds.
const (
	// Calm is a world in which nothing breaks.
	Calm Kind = iota
	// Rough is a world in which servers and workers are killed.
	Rough
	// Real is a calm world whose agents are Claude Code.
	Real
	// RealRough is a rough world whose agents are Claude Code.
	RealRough
)

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{"nothing breaks", "servers and workers are killed", "Claude Code", "Claude Code, servers and workers are killed"}[k]
}

// NewWorld starts a server and a worker.
func NewWorld(tb testing.TB, binary string, database []string, kind Kind) *World {
	tb.Helper()
	w := &World{
		TB: tb, binary: binary, address: ports.Address(tb), folder: process.TempFolder(tb),
		database: database, kind: kind, rough: kind == Rough || kind == RealRough, pace: usualPace, bell: &changeSignal{},
	}
	w.ledger, w.hub = newLedger(w.bell), newAgentHub(tb, w.bell)
	if kind == Real || kind == RealRough {
		w.claude = newClaude(tb, w)
	} else {
		w.puppet = Puppet(tb)
	}
	w.serve()
	w.balancer = process.NewLoadBalancer(tb, w.server)
	w.balancer.RetriesUntilReply = true
	w.admin = &person{"admin", w.server.FirstToken, w.balancer.Client(tb, w.server.FirstToken)}
	w.makePeople()
	w.setRules()
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	go func() { _ = w.admin.Stream(ctx, client.StreamQuery{FromStart: true}, w.follow) }()
	w.startWorker()
	return w
}

func (w *World) follow(e *fermata.Event) error {
	w.ledger.add(e)
	return nil
}

// Puppet builds the agent of the tests and returns its path.
func Puppet(tb testing.TB) string {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), "puppet")
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-o", out, "github.com/fermata-hq/fermata/test/seams/puppet")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build the agent: %v\n%s", err, text)
	}
	return out
}

// processTB is the test as seen by a process that ends before the test does. The output of the process is shown only if the
// process ran to the end of the test.
type processTB struct {
	testing.TB
	over atomic.Bool
}

// Failed hides the failure of the test from processes that have ended.
func (c *processTB) Failed() bool { return !c.over.Load() && c.TB.Failed() }

func (w *World) serve() {
	w.Helper()
	if w.serverTB != nil {
		w.serverTB.over.Store(true)
	}
	w.serverTB = &processTB{TB: w.TB}
	w.server = process.Serve(w.serverTB, w.binary, w.database, "--listen", w.address)
}

// makePeople creates a token for each person.
func (w *World) makePeople() {
	w.Helper()
	human := func(name string, role fermata.Role, scopes ...fermata.Scope) *person {
		return w.token(fermata.NewToken{Name: name, Kind: fermata.ActorHuman, Member: name, Role: role, Scopes: scopes})
	}
	agent := func(name string, scopes ...fermata.Scope) *person {
		return w.token(fermata.NewToken{Name: name, Kind: fermata.ActorAgent, Scopes: scopes})
	}
	w.alice = human("alice", fermata.RoleOperator, fermata.ScopeAnswer, fermata.ScopeAsk, fermata.ScopeRead)
	w.bob = human("bob", fermata.RoleResponder, fermata.ScopeAnswer, fermata.ScopeRead)
	w.carol = human("carol", fermata.RoleViewer, fermata.ScopeAnswer, fermata.ScopeAsk, fermata.ScopeRead)
	w.agents = agent("agents", fermata.ScopeAsk)
	w.workerPerson = agent("hands", fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	w.stranger = agent("stranger", fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	w.readerPerson = agent("eyes", fermata.ScopeRead)
}

func (w *World) token(n fermata.NewToken) *person {
	w.Helper()
	made, err := w.admin.CreateToken(w.Context(), n)
	if err != nil {
		w.Fatal(err)
	}
	return &person{n.Name, made.Secret, w.balancer.Client(w, made.Secret)}
}

// setRules allows short deadlines of questions, answers that can be taken back for a second, and one tool that runs
// without a question.
func (w *World) setRules() {
	w.Helper()
	policy, err := w.admin.Policy(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	policy.AllowShorter, policy.UndoSeconds = true, new(1)
	if _, err := w.admin.SetPolicy(w.Context(), policy); err != nil {
		w.Fatal(err)
	}
	if _, err := w.admin.AddGateRule(w.Context(), fermata.NewGateRule{Tool: freeTool, Decision: fermata.GateAllow}); err != nil {
		w.Fatal(err)
	}
}

func (w *World) startWorker() {
	w.Helper()
	lease := calmLease
	if w.rough {
		lease = roughLease
		if w.claude != nil {
			lease = realLease
		}
	}
	env := []string{"FERMATA_URL=" + w.server.URL, "FERMATA_TOKEN=" + w.workerPerson.token, "FERMATA_AGENT_TOKEN=" + w.agents.token}
	args := []string{"worker", "--name", "w", "--lease", lease.String(), "--folder", w.folder, "--log-level", "warn"}
	if w.claude != nil {
		env = append(slices.Clone(w.claude.env), env...)
		args = append(append(args, w.claude.flags()...), "--concurrency", fmt.Sprint(realSlots))
	} else {
		args = append(args, "--concurrency", fmt.Sprint(slots), "--", w.puppet, w.hub.socket, w.hub.folder)
	}
	if w.workerTB != nil {
		w.workerTB.over.Store(true)
	}
	w.workerTB = &processTB{TB: w.TB}
	w.worker = process.Start(w.workerTB, w.binary, env, args...)
	w.workers.Add(1)
}

// setTitle stores the title of a task. The title is unique.
func (w *World) setTitle(title, task string) {
	w.titles.Store(title, task)
	w.bell.signal()
}

// taskTitled returns the task whose title is in the text.
func (w *World) taskTitled(text string) (task string) {
	w.titles.Range(func(title, id any) bool {
		if strings.Contains(text, "# "+title.(string)) {
			task = id.(string)
		}
		return task == ""
	})
	return task
}

// awaitCondition waits until the condition holds, and reports whether it did in time. It checks the condition after each
// change of the ledger or of the hub.
func (w *World) awaitCondition(ctx context.Context, timeout time.Duration, holds func() bool) bool {
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	for {
		next := w.bell.next()
		if holds() {
			return true
		}
		select {
		case <-next:
		case <-limit.C:
			return holds()
		case <-ctx.Done():
			return false
		}
	}
}

// isAtRest reports whether the task needs a new act to move on: its agent is running and waits for orders, or no worker
// will take the task.
func (w *World) isAtRest(task string) bool {
	t := w.ledger.entryOf(task)
	switch {
	case t.State == "":
		return false
	case t.State.IsClaimable():
		return w.worker == nil
	case t.State == fermata.TaskInProgress:
		l := w.hub.lastAgent(task, t.Run)
		return w.worker == nil || l != nil && l.isAlive()
	default:
		return true
	}
}

// databaseName returns the name of the world's database.
func (w *World) databaseName() string {
	if w.database[0] == "--database" {
		return "PostgreSQL"
	}
	return "SQLite"
}

// testFolder returns the folder of the tests that play in such a world.
func (w *World) testFolder() string {
	if w.claude != nil {
		return "./test/seams/claude"
	}
	return "./test/seams"
}

// newWord returns a unique text.
func (w *World) newWord() string { return fmt.Sprintf("word-%d-", w.words.Add(1)) }

// refusalOf returns the error in a problem document.
func refusalOf(status int, text []byte) error {
	var p struct {
		Code   fermata.Code `json:"code"`
		Detail string       `json:"detail"`
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Code == "" {
		return fmt.Errorf("status %d: %s", status, text)
	}
	return fermata.Errorf(p.Code, "%s", p.Detail)
}

// isRefusal reports whether an error is a refusal by the rules, and not a failure of the server.
func isRefusal(err error) bool {
	if err == nil || errors.Is(err, errAgentGone) {
		return true
	}
	switch fermata.CodeOf(err) {
	case fermata.CodeInternal, fermata.CodeUnavailable, fermata.CodeUnauthenticated:
		return false
	default:
		return true
	}
}

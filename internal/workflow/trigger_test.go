package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// runsOf waits until a workflow has exactly that many runs, and returns them.
func (w *world) runsOf(name string, want int) []*fermata.WorkflowRun {
	w.Helper()
	deadline := time.Now().Add(patience.Limit())
	for {
		runs, _, err := w.s.Runs(w.Context(), admin, workflow.RunFilter{Workflow: name, Limit: 500})
		w.OK(err)
		if len(runs) >= want || time.Now().After(deadline) {
			if len(runs) != want {
				w.Fatalf("%s has %d runs, want %d", name, len(runs), want)
			}
			return runs
		}
		w.yield()
	}
}

const nightly = `
name: nightly
triggers:
  - schedule: "*/10 * * * *"
    catchup: CATCHUP
steps:
  - {id: tell, tool: note, input: {at: "{{ trigger.at }}"}}
`

func TestScheduleFiresOnceAndCatchesUp(t *testing.T) {
	for _, tt := range []struct {
		catchup string
		// want is one run on time, plus the runs that the schedule's catch-up setting allows for the five missed times.
		want int
	}{{"none", 1}, {"latest", 2}, {"all", 6}} {
		t.Run(tt.catchup, func(t *testing.T) {
			onBoth(t, func(w *world) {
				d := w.put(strings.ReplaceAll(nightly, "CATCHUP", tt.catchup))
				// This is just after the next time, so that time is due and not missed.
				w.Clock.Advance(d.Triggers[0].NextAt.Sub(w.Clock.Now()) + time.Second)
				w.runsOf("nightly", 1)
				w.stop()
				// This is a little more than 59 minutes, so that the newest missed time is nine minutes old.
				w.Clock.Advance(59 * time.Minute)
				w.Engine, w.s = w.process(nil)
				w.start()
				patience.Await(w, "the next time is set", func() bool {
					rows, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Schedules("nightly")
					w.OK(err)
					now, err := w.DB.Now(w.Context())
					w.OK(err)
					return rows[0].NextAt.After(now)
				})
				runs := w.runsOf("nightly", tt.want)
				seen := map[string]bool{}
				for _, r := range runs {
					if seen[string(r.Cause)] {
						w.Fatalf("the time %s started two runs", r.Cause)
					}
					seen[string(r.Cause)] = true
				}
			})
		})
	}
}

// TestSchedulesStartOnceOnTwoProcesses lets many schedules come due in the same minute, on two processes, while the
// clock jumps back and forth.
func TestSchedulesStartOnceOnTwoProcesses(t *testing.T) {
	onBoth(t, func(w *world) {
		const each = 50
		w.stop()
		var last *fermata.Workflow
		for i := range workflows {
			last = w.put(fmt.Sprintf("name: nightly%d\ntriggers:\n%ssteps: [{id: tell, tool: note}]\n", i,
				strings.Repeat("  - schedule: \"0 3 * * *\"\n", each)))
		}
		_, other := w.process(nil)
		w.Clock.Advance(last.Triggers[0].NextAt.Sub(w.Clock.Now()) + 2*time.Second)
		var both sync.WaitGroup
		for _, s := range []*workflow.Service{w.s, other} {
			both.Go(func() {
				for n := 1; n > 0; {
					var err error
					if n, err = s.StartDue(w.Context()); err != nil {
						w.Error(err)
						return
					}
					w.Clock.Advance(-time.Second)
					w.Clock.Advance(2 * time.Second)
				}
			})
		}
		both.Wait()
		for i := range workflows {
			seen := map[string]int{}
			for _, run := range w.runsOf(fmt.Sprintf("nightly%d", i), each) {
				seen[run.ID]++
			}
			if len(seen) != each {
				w.Fatalf("%d runs of %d schedules", len(seen), each)
			}
		}
	})
}

func TestEventsAndLabelsStartRuns(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(`
name: first
triggers: [{manual: true}]
steps: [{id: tell, tool: note}]
`)
		w.put(`
name: follower
triggers:
  - event: task.ended
    if: trigger.workflow == "first" && trigger.data.to == "done"
steps: [{id: tell, tool: note, input: {after: "{{ trigger.task_id }}"}}]
`)
		w.put(`
name: labelled
triggers: [{label_added: auto-fix}]
inputs: {issue: {type: number, required: true}}
steps: [{id: ask, tool: post_question, suspend: true, input: {question: "Fix {{ inputs.issue }}?", responseType: boolean, timeout: never}}]
`)
		w.put("name: other\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n")
		for _, name := range []string{"other", "first"} {
			run, err := w.s.Start(w.Context(), admin, name, nil)
			w.OK(err)
			w.await(run.ID, fermata.TaskDone)
		}
		follow := w.runsOf("follower", 1)[0]
		w.await(follow.ID, fermata.TaskDone)
		w.OK(w.label("1", "other"))
		w.OK(w.label("2", "auto-fix"))
		labelled := w.runsOf("labelled", 1)[0]
		if labelled.Title != "labelled for acme/shop#7" || string(labelled.Inputs) != `{"issue":7}` {
			w.Fatalf("the run is %s with %s", labelled.Title, labelled.Inputs)
		}
		w.awaitRunQuestion(labelled.ID)
		// While the run is open, the same label starts no other run.
		w.OK(w.label("3", "Auto-Fix"))
		w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace))
		w.runsOf("labelled", 1)
		// The end of the follower's own run does not start the follower again.
		w.runsOf("follower", 1)
	})
}

// Where votes are counted, the person whose action triggered a run may not approve the run's requests. A label on
// GitHub, or a task that the person created, counts like a start by hand.
func TestWhoTriggersARunDoesNotApproveIt(t *testing.T) {
	onBoth(t, func(w *world) {
		ann, bob := w.voter("ann"), w.voter("bob")
		for name, trigger := range map[string]string{"labelled": "label_added: auto-fix", "deployed": "deployment: production", "made": "event: task.created, if: trigger.data.title == \"one more\""} {
			w.put("name: " + name + "\ntriggers: [{" + trigger + "}]\nsteps:\n" + `
  - id: ask
    tool: request_approval
    input: {title: "Deploy?", action: {command: [make, deploy]}, approvals: {required: 1}}
`)
		}
		w.OK(w.labelBy(ann.Actor(), "1", "auto-fix"))
		w.OK(w.deploymentBy(ann.Actor(), 11, "production"))
		_, err := w.Engine.CreateTask(w.Context(), ann, fermata.NewTask{Title: "one more"})
		w.OK(err)
		for _, name := range []string{"labelled", "deployed", "made"} {
			run := w.runsOf(name, 1)[0]
			q := w.awaitRunQuestion(run.ID)
			if run.StartedBy == nil || run.StartedBy.Name != "ann" {
				w.Errorf("%s: started by %+v, want ann", name, run.StartedBy)
			}
			yes := fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash}
			if _, err := w.Engine.Answer(w.Context(), ann, q.ID, yes); fermata.CodeOf(err) != fermata.CodeNotEligible {
				w.Errorf("%s: ann approves what her own act started: %v", name, err)
			}
			_, err = w.Engine.Answer(w.Context(), bob, q.ID, yes)
			w.OK(err)
			w.await(run.ID, fermata.TaskDone)
		}
	})
}

// A person that starts a run may not approve the requests of a run that follows it, although no person caused the
// event. Readers of runs do not see the data of events about people and tokens.
func TestWhoIsBehindAnEvent(t *testing.T) {
	onBoth(t, func(w *world) {
		ann, bob := w.voter("ann"), w.voter("bob")
		w.put("name: first\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n")
		w.put(`
name: second
triggers: [{event: task.ended, if: trigger.workflow == "first"}]
steps:
  - id: ask
    tool: request_approval
    input: {title: "Deploy?", action: {command: [make, deploy]}, approvals: {required: 1}}
`)
		w.put("name: people\ntriggers: [{event: member.added}]\nsteps: [{id: tell, tool: note}]\n")
		_, err := w.s.Start(w.Context(), ann, "first", nil)
		w.OK(err)
		run := w.runsOf("second", 1)[0]
		q := w.awaitRunQuestion(run.ID)
		yes := fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash}
		if _, err := w.Engine.Answer(w.Context(), ann, q.ID, yes); fermata.CodeOf(err) != fermata.CodeNotEligible {
			w.Errorf("ann approves what follows her run: %v", err)
		}
		_, err = w.Engine.Answer(w.Context(), bob, q.ID, yes)
		w.OK(err)
		w.voter("payroll-clerk")
		if cause := string(w.runsOf("people", 1)[0].Cause); strings.Contains(cause, "payroll-clerk") || !strings.Contains(cause, "member.added") {
			w.Errorf("the run knows %s", cause)
		}
	})
}

// A run that follows a workflow run gets the inputs of that run, and its issue.
func TestWhatFollowsARunKnowsItsInputsAndItsIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	notes := w.texts("note")
	w.tools.on("check", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no such page") })
	w.put(`
name: fixes
triggers: [{label_added: auto-fix}]
inputs: {issue: {type: number, required: true}, tries: {type: number, default: 3}}
steps: [{id: look, tool: check}]
`)
	w.put(`
name: cleans-up
triggers: [{event: task.ended, if: trigger.workflow == "fixes" && trigger.data.to == "failed"}]
inputs: {issue: {type: number}}
steps:
  - {id: tell, tool: note, input: {text: "{{ inputs.issue }} of {{ trigger.repository }} after {{ trigger.inputs.tries }}"}}
  - {id: ask, tool: post_question, suspend: true, input: {question: "What now?", responseType: text, timeout: never}}
`)
	w.OK(w.label("1", "auto-fix"))
	run := w.runsOf("cleans-up", 1)[0]
	q := w.awaitRunQuestion(run.ID)
	if strings.Join(*notes, "|") != "7 of acme/shop after 3" || q.Metadata["github_issue"] != "acme/shop#7" {
		t.Errorf("it was told %q, and asks on %q", *notes, q.Metadata["github_issue"])
	}
}

// label appends the event of a label that was added to an issue, not by a member.
func (w *world) label(id, name string) error { return w.labelBy(fermata.SystemActor, id, name) }

func (w *world) labelBy(who fermata.Actor, id, name string) error {
	return w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.Append(&fermata.Event{
			Type: fermata.EventLabelAdded, Actor: who,
			Data: []byte(fmt.Sprintf(`{"repository":"acme/shop","issue":7,"label":%q,"actor":"ann","delivery":%q}`, name, id)),
		})
		return nil
	})
}

func (w *world) deploymentBy(who fermata.Actor, id int, environment string) error {
	return w.deploymentOf(who, id-1, id, environment)
}

// deploymentOf appends the event of a waiting deployment of a run of Actions.
func (w *world) deploymentOf(who fermata.Actor, run, id int, environment string) error {
	return w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.Append(&fermata.Event{
			Type: fermata.EventDeploymentRequested, Actor: who,
			Data: []byte(fmt.Sprintf(`{"repository":"acme/shop","environment":%q,"ref":"main","sha":"5f3a","run":%d,"deployment":%d,"actor":"ann"}`, environment, run, id)),
		})
		return nil
	})
}

// Each waiting deployment starts a run, also while a run for the same environment is open, because each job waits for
// its own decision.
func TestADeploymentThatWaitsStartsARun(t *testing.T) {
	onBoth(t, func(w *world) {
		ask := "steps: [{id: ask, tool: request_approval, input: {title: \"Deploy {{ trigger.sha }} of {{ trigger.ref }} to {{ trigger.environment }}?\", action: {run: \"{{ trigger.run }}\"}}}]\n"
		w.put("name: guard\ntriggers: [{deployment: Production, repo: Acme/Shop}]\n" + ask)
		w.put("name: all\ntriggers: [{deployment: \"*\"}]\n" + ask)
		w.put("name: elsewhere\ntriggers: [{deployment: production, repo: acme/other}]\n" + ask)
		for id, environment := range map[int]string{11: "production", 21: "production", 31: "staging"} {
			w.OK(w.deploymentBy(fermata.SystemActor, id, environment))
		}
		w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace))
		w.runsOf("all", 3)
		w.runsOf("elsewhere", 0)
		for _, run := range w.runsOf("guard", 2) {
			q := w.awaitRunQuestion(run.ID)
			if run.Title != "guard for acme/shop to production" || q.Title != "Deploy 5f3a of main to production?" || run.Trigger != fermata.TriggerDeployment {
				w.Errorf("%s, started by %s, asks %s", run.Title, run.Trigger, q.Title)
			}
		}
	})
}

// When a run of Actions is started again, the question about its earlier attempt is withdrawn. Otherwise the person
// that started the later attempt could approve that question.
func TestALaterAttemptWithdrawsTheQuestionOfTheEarlierOne(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put("name: guard\ntriggers: [{deployment: production}]\nsteps: [{id: ask, tool: request_approval, input: {title: \"Deploy?\", action: {run: 1}}}]\n")
		settle := func() { w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace)) }
		w.OK(w.deploymentOf(fermata.SystemActor, 10, 11, "production"))
		w.OK(w.deploymentOf(fermata.SystemActor, 20, 21, "production"))
		settle()
		for _, run := range w.runsOf("guard", 2) {
			w.awaitRunQuestion(run.ID)
		}
		w.OK(w.deploymentOf(ann.Actor(), 10, 12, "Production"))
		settle()
		cancelled := 0
		for _, run := range w.runsOf("guard", 3) {
			if w.read(run.ID).State == fermata.TaskCancelled {
				cancelled++
			}
		}
		if cancelled != 1 {
			w.Errorf("%d runs were cancelled", cancelled)
		}
	})
}

// A workflow follows every event from the moment at which it is stored, also while other events are being processed.
func TestAWorkflowThatWasJustStoredMissesNoEvent(t *testing.T) {
	onBoth(t, func(w *world) {
		store := func(label string) {
			w.put("name: on-" + label + "\ntriggers: [{label_added: " + label + "}]\nsteps: [{id: tell, tool: note}]\n")
		}
		store("begin")
		ended := make(chan struct{})
		var events sync.WaitGroup
		defer events.Wait()
		defer close(ended)
		for writer := range 3 {
			events.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-ended:
						return
					default:
					}
					if err := w.label(fmt.Sprintf("none-%d-%d", writer, n), "none"); err != nil {
						w.Error(err)
					}
				}
			})
		}
		for n := range 25 {
			label := fmt.Sprintf("label%d", n)
			store(label)
			w.OK(w.label(label, label))
			w.runsOf("on-"+label, 1)
		}
	})
}

// Workflows that follow each other's runs stop starting new runs, and an event says why. No such event is written for a
// workflow whose condition is false.
func TestWorkflowsDoNotFollowInACircle(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, name := range []string{"ping", "pong", "tail"} {
			w.put("name: " + name + "\ntriggers: [{manual: true}, {event: task.ended}]\nsteps: [{id: tell, tool: note}]\n")
		}
		w.put("name: looks\ntriggers: [{event: task.ended, if: trigger.workflow == \"nothing\"}]\nsteps: [{id: tell, tool: note}]\n")
		run, err := w.s.Start(w.Context(), admin, "ping", nil)
		w.OK(err)
		w.await(run.ID, fermata.TaskDone)
		// These are the runs after ping, and after the other follower.
		w.runsOf("pong", 2)
		w.runsOf("tail", 2)
		w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace))
		patience.Await(w, "all have ended", func() bool {
			runs, _, err := w.s.Runs(w.Context(), admin, workflow.RunFilter{State: []fermata.TaskState{fermata.TaskDone}})
			w.OK(err)
			return len(runs) == 5
		})
		w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace))
		w.runsOf("ping", 1)
		skips, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{Types: []string{string(fermata.EventTriggerSkipped)}, Limit: 100})
		w.OK(err)
		if len(skips) != 6 {
			w.Errorf("%d skips: %s", len(skips), asJSON(skips))
		}
		for _, e := range skips {
			if !strings.Contains(string(e.Data), "led to this event") || strings.Contains(string(e.Data), `"looks"`) {
				w.Errorf("it was skipped: %s", e.Data)
			}
		}
	})
}

func TestWebhook(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(`
name: hooked
triggers: [{webhook: true}]
inputs: {branch: {type: string, required: true}}
steps: [{id: tell, tool: note, input: {branch: "{{ inputs.branch }}"}}]
`)
		secret, err := w.s.NewWebhookSecret(w.Context(), admin, "hooked")
		w.OK(err)
		hook, err := standardwebhooks.NewWebhook(secret)
		w.OK(err)
		send := func(id string, at time.Time, body string, forge bool) (string, error) {
			signature, err := hook.Sign(id, at, []byte(body))
			w.OK(err)
			if forge {
				body = strings.ReplaceAll(body, "main", "evil")
			}
			h := http.Header{}
			h.Set(standardwebhooks.HeaderWebhookID, id)
			h.Set(standardwebhooks.HeaderWebhookTimestamp, fmt.Sprint(at.Unix()))
			h.Set(standardwebhooks.HeaderWebhookSignature, signature)
			return w.s.StartByWebhook(w.Context(), store.DefaultWorkspace, "hooked", h, []byte(body))
		}
		body := `{"branch":"main {{ secrets.x }}"}`
		for name, try := range map[string]func() (string, error){
			"forged": func() (string, error) { return send("m1", time.Now(), body, true) },
			"old":    func() (string, error) { return send("m1", time.Now().Add(-time.Hour), body, false) },
			"unsigned": func() (string, error) {
				return w.s.StartByWebhook(w.Context(), store.DefaultWorkspace, "hooked", http.Header{}, []byte(body))
			},
		} {
			if _, err := try(); fermata.CodeOf(err) != fermata.CodeUnauthenticated {
				w.Errorf("%s: %v", name, err)
			}
		}
		if _, err := send("m2", time.Now(), `{"branch":7}`, false); fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), "must be a string") {
			w.Errorf("an input of another type: %v", err)
		}
		for _, number := range []string{"1e400", "12345678901234567890"} {
			_, err := send("m4", time.Now(), `{"branch":"main","id":`+number+`}`, false)
			if fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), "the body has the number "+number) {
				w.Errorf("%s: %v", number, err)
			}
		}
		id, err := send("m3", time.Now(), body, false)
		w.OK(err)
		again, err := send("m3", time.Now(), body, false)
		w.OK(err)
		if id != again {
			w.Fatalf("the same id started %s and %s", id, again)
		}
		run := w.await(id, fermata.TaskDone)
		if got := string(run.Steps[0].Input); got != `{"branch":"main {{ secrets.x }}"}` {
			w.Fatalf("the step got %s", got)
		}
		w.runsOf("hooked", 1)
	})
}

// TestWebhookTakesWhatColumnsDoNot sends ids and keys that no database accepts as text, or that are too long for an
// index. It also checks the time of the signature.
func TestWebhookTakesWhatColumnsDoNot(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(`
name: open
triggers:
  - webhook: true
    auth: none
    if: now() > date("2020-01-01")
concurrency: {key: "{{ trigger.body.branch }}", policy: queue}
steps: [{id: tell, tool: note}]
`)
		long := strings.Repeat("x", 5000)
		send := func(id, branch string) string {
			h := http.Header{}
			h.Set(standardwebhooks.HeaderWebhookID, id)
			run, err := w.s.StartByWebhook(w.Context(), store.DefaultWorkspace, "open", h, []byte(asJSON(map[string]any{"branch": branch})))
			w.OK(err)
			w.await(run, fermata.TaskDone)
			return run
		}
		first := send(long, long)
		if again := send(long, long); again != first {
			w.Errorf("the same id started %s and %s", first, again)
		}
		if other := send(long+"y", "a\x00b"); other == first {
			w.Error("another id starts nothing")
		}
		send("\xff\xfe", "z")
	})
}

package fermata_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestWire pins the JSON of every resource. The examples fill every field, so
// that no name changes unnoticed. Their values are not meant to make sense
// together.
func TestWire(t *testing.T) {
	t.Parallel()
	checkWire(t, "task", wireTask())
	checkWire(t, "question", wireQuestion())
	checkWire(t, "run", fermata.Run{
		ID: "run_1", WorkspaceID: "main", TaskID: "task_1", Attempt: 2, State: fermata.RunFinished, Worker: "w1", Runner: "claude", Token: 7,
		LeaseUntil: later, ClaimedFrom: fermata.TaskInputReceived, Result: fermata.ResultNeedsInput, Summary: "Half done.",
		Details: json.RawMessage(`{"files":3}`), QuestionID: "q_1", StartedAt: noon, EndedAt: &anHourLater,
	})
	checkWire(t, "worker", fermata.Worker{Name: "w1", Runners: []string{"claude", "shell"}, Projects: []string{"shop"}, Agents: []string{"code"}, Isolates: true, SeenAt: noon, Running: true})
	checkWire(t, "message", wireMessage())
	event := fermata.Event{
		WorkspaceID: "main", Type: fermata.EventQuestionAnswered, TaskID: "task_1", QuestionID: "q_1", RunID: "run_1",
		Actor: wireActor, At: noon, Data: json.RawMessage(`{"answer":"a"}`),
	}
	event.Link(42, "hash of event 41")
	checkWire(t, "event", event)
	wireRetention(t)
	q := wireQuestion()
	rc := fermata.ResumeContext{
		LastRun: &fermata.LastRun{ID: "run_1", Attempt: 1, State: fermata.RunFinished, Result: fermata.ResultNeedsInput, Summary: "Drafted it."},
		TaskID:  "task_1", TaskState: fermata.TaskInProgress, Resumed: true, AtDesk: true, Session: wireTask().Session,
		Questions: []fermata.ResumeAnswer{{QuestionID: q.ID, Type: q.Type, Title: q.Title, Items: q.Items, State: q.State, Resolution: q.Resolution, Action: q.Action, Grant: "fg1.…", Votes: []fermata.Vote{{By: wireActor, Value: fermata.Approve, Comment: "only on staging", Assurance: fermata.AssuranceChannel, At: noon, Signed: q.Resolution.Signed}}}},
		Pending:   &q, Messages: []fermata.Message{wireMessage()}, Checkpoint: json.RawMessage(`{"step":4}`), Text: "The work stopped …",
	}
	checkWire(t, "resume_context", rc)
	m, r, p := wireMessage(), fermata.Run{ID: "run_1"}, fermata.Progress{Message: "On it.", Step: "tests", Current: 2, Total: 5, Token: 7}
	checkWire(t, "timeline_entry", fermata.TimelineEntry{
		Seq: 42, At: noon, Kind: fermata.TimelineQuestion, Type: fermata.EventQuestionAnswered, Actor: wireActor, QuestionID: "q_1", RunID: "run_1",
		From: fermata.TaskAwaitingInput, To: fermata.TaskInputReceived, Reason: "question_timed_out", Message: &m, Question: &q,
		Resolution: q.Resolution, Progress: &p, Run: &r, Data: json.RawMessage(`{"seconds":42}`),
	})
	counts := fermata.NewTaskCounts()
	counts.Add(fermata.TaskAwaitingApproval, 3)
	checkWire(t, "task_counts", counts)
	wireAnalytics(t)
	checkWire(t, "gate_rule", wireRule())
	verdictRule := wireRule()
	checkWire(t, "gate_verdict", fermata.GateReply{
		Decision: fermata.GateAllow, Reason: "approved: …", TaskID: "task_1", QuestionID: "q_1", Status: fermata.Answered,
		DecidedBy: fermata.ActorHuman, Input: json.RawMessage(`{"command":"ls"}`), Rule: &verdictRule,
	})
	checkWire(t, "attention_request", fermata.AttentionRequest{
		Runs: []fermata.AttentionRun{{RunID: "run_1", Token: 7, Deadline: &anHourLater, Stop: fermata.StopPaused, StopsOnly: true}}, WaitSeconds: 50,
	})
	checkWire(t, "attention", fermata.Attention{Runs: []fermata.News{{RunID: "run_1", Stop: fermata.StopCancelled, Unread: 2, Deadline: &anHourLater}}})
	checkWire(t, "gate_call", fermata.GateCall{
		TaskID: "task_1", SessionKey: "claude:1", RunID: "run_1", Project: "web", CallID: "toolu_1", Runner: "claude", Tool: "Bash",
		Input: json.RawMessage(`{"command":"ls"}`), Dir: "/work", DryRun: true,
	})
}

// TestWireOfAnEmptyResource pins the fields that are always present.
func TestWireOfAnEmptyResource(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"task": fermata.Task{}, "question": fermata.Question{}, "run": fermata.Run{}, "message": fermata.Message{},
		"event": fermata.Event{}, "resume_context": fermata.ResumeContext{},
	} {
		compareGolden(t, "wire/empty_"+name+".json", indentJSON(t, v))
	}
}

func wireAnalytics(t *testing.T) {
	t.Helper()
	period := fermata.Period{From: noon, To: anHourLater}
	answers := fermata.AnswerFigures{
		Answered: 10, TimeToAnswer: fermata.Times{Median: ptr(42.0), P90: ptr(310.0), N: 10}, Reflex: fermata.Share{Value: ptr(0.1), N: 10},
	}
	figures := fermata.Figures{
		Asked: 16, Pending: 1, AnswerFigures: answers, ByRule: 2, TimedOut: 2, Cancelled: 1, TimeoutRate: fermata.Share{Value: ptr(0.1667), N: 12},
	}
	checkWire(t, "analytics_summary", fermata.AnalyticsSummary{
		Period: period, Figures: figures, Types: []fermata.TypeFigures{{Type: fermata.Approval, Figures: figures}},
		Channels: []fermata.ChannelFigures{{Channel: "web", AnswerFigures: answers}},
	})
	checkWire(t, "analytics_series", fermata.AnalyticsSeries{
		Period: period, Interval: fermata.EveryDay, Items: []fermata.SeriesStep{{Period: period, Figures: figures}},
	})
	checkWire(t, "analytics_questions", fermata.AnalyticsQuestions{
		Period: period, Closed: 15, Items: []fermata.TitlePatternFigures{{Title: "Deploy?", QuestionID: "q_1", Figures: figures}},
	})
	checkWire(t, "analytics_responders", fermata.AnalyticsResponders{
		Period: period, Items: []fermata.ResponderFigures{{ID: "mem_ann", Handle: "ann", AnswerFigures: answers}},
	})
	checkWire(t, "analytics_projects", fermata.AnalyticsProjects{
		Period: period, Items: []fermata.ProjectFigures{{Project: "shop", Figures: figures}},
	})
	checkWire(t, "audit_page", fermata.AuditPage{Items: []*fermata.Event{{Seq: 1, Actor: wireActor}}, NextCursor: "…", SearchedTo: &anHourLater})
}

func wireRule() fermata.GateRule {
	return fermata.GateRule{
		ID: "rule_1", WorkspaceID: "main", Owner: wireActor, SessionOwner: &wireActor, ExpiresAt: &anHourLater, Used: 2, CreatedAt: noon,
		NewGateRule: fermata.NewGateRule{
			Tool: "Bash", Args: map[string]string{"command": "git status*"}, Decision: fermata.GateAllow, Project: "web", TaskID: "task_1",
			SessionKey: "claude:1", ExpiresIn: "1h", Uses: 3, Risk: fermata.RiskHigh, Reason: "read only",
		},
	}
}

func checkWire[T any](t *testing.T, name string, v T) {
	t.Helper()
	for _, field := range emptyFields(reflect.ValueOf(v), name) {
		t.Errorf("%s is empty: fill it, so that its name is pinned", field)
	}
	text := indentJSON(t, v)
	compareGolden(t, "wire/"+name+".json", text)
	if again := indentJSON(t, throughJSON(t, v)); again != text {
		t.Errorf("%s: decoded and encoded again it is\n%s", name, again)
	}
}

func indentJSON(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// emptyFields returns the paths of the JSON fields that have no value.
func emptyFields(v reflect.Value, path string) []string {
	if v.IsZero() {
		return []string{path}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return emptyFields(v.Elem(), path)
	case reflect.Slice:
		if v.Len() > 0 && v.Type().Elem().Kind() == reflect.Struct {
			return emptyFields(v.Index(0), path+"[0]")
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		var out []string
		for _, f := range reflect.VisibleFields(v.Type()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				// Its fields are among the visible ones.
			case name == "-" || path == "task" && name == "pending_question" || path == "timeline_entry" && name == "run" || path == "audit_page" && name == "items" || path == "resume_context" && name == "pending":
			case name == "":
				out = append(out, path+"."+f.Name+" (without a name on the wire)")
			default:
				out = append(out, emptyFields(v.FieldByIndex(f.Index), path+"."+name)...)
			}
		}
		return out
	default:
	}
	return nil
}

var wireActor = fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_ann", Name: "ann"}

func wireTask() fermata.Task {
	return fermata.Task{
		ID: "task_1", WorkspaceID: "main", Project: "shop", ParentID: "task_0", Title: "Build the shop", Body: "With **care**.",
		State: fermata.TaskAwaitingInput, Reason: "question_timed_out", Priority: 1, Size: "small", Agent: "code", Runner: "claude",
		Labels: []string{"shop", "v2"}, Spec: json.RawMessage(`{"command":["make"]}`), BlockedBy: []string{"task_2"}, DeferUntil: &anHourLater,
		Attempts: 1, MaxAttempts: 3, RunID: "run_1",
		Session: &fermata.Session{
			ID: "sess_1", Runner: "claude", Dir: "/src/shop", Mode: "plan", Worker: "w1", Branch: "fermata/task_1",
			Settings: map[string]string{"model": "large"}, Command: "claude --resume s-1",
		},
		Checkpoint: json.RawMessage(`{"step":4}`), Summary: "Half done.", PendingQuestionID: "q_1",
		Waiting: &fermata.TaskWaiting{
			QuestionID: "q_1", Type: fermata.Approval, Title: "Deploy?", Since: noon, Deadline: &anHourLater, OnTimeout: fermata.FailTask,
			Assignees: []string{"ann", "group:ops"},
		},
		NoWorker:  &fermata.NoWorker{Lacks: fermata.LacksRunner, Text: "No running worker has the runner claude: there is w1.", Start: "fermata worker --runner claude"},
		Isolated:  true,
		CanResume: true, CanPause: true, TakeOverCommand: "cd /work && claude --resume s-1", EndsWithAnswer: true,
		SessionKey: "session 9", CreatedBy: agent, CreatedAt: noon, UpdatedAt: later, Runs: 3, Unread: 2, Version: 5,
	}
}

func wireMessage() fermata.Message {
	return fermata.Message{
		ID: "msg_1", WorkspaceID: "main", TaskID: "task_1", QuestionID: "q_1", Kind: fermata.MessageClarification,
		Author: wireActor, Body: "Which <b>one</b>?", Cancels: true, CreatedAt: noon,
		HandedTo: "run_1", HandedAt: ptr(noon), Handoff: fermata.HandoffHanded,
	}
}

func wireQuestion() fermata.Question {
	action := json.RawMessage(`{"command":"deploy"}`)
	signed := &fermata.SignedDecision{Decision: `{"form":"fermata decision 1"}`, PasskeyID: "pk_1", RelyingParty: "example.com", Credential: json.RawMessage(`{"id":"k"}`)}
	held := &fermata.HeldAnswer{
		By: wireActor, At: noon, ReleaseAt: later, Answer: fermata.Approve, Answers: map[string]any{"answer": fermata.Approve}, Comment: "Go.",
		Channel: "web", Assurance: fermata.AssuranceSession, Action: action, ActionHash: fermata.HashAction(action), Signed: signed,
	}
	return fermata.Question{
		ID: "q_1", WorkspaceID: "main", TaskID: "task_1", RunID: "run_1", Project: "shop", Type: fermata.Approval, Status: fermata.TimedOut,
		Title: "Deploy?", Assignees: []string{"ann", "group:ops", "role:admin"}, Deadline: &anHourLater,
		EscalationLevel: 1, UnreachedReason: "there is no route for it", Priority: 1, IdempotencyKey: "key 1", DedupeKey: "key 2", AskCount: 2,
		Votes: []fermata.Vote{{By: wireActor, Value: fermata.Approve, Comment: "Go.", Assurance: fermata.AssuranceSession, At: later, Signed: signed}}, CreatedAt: noon,
		Resolution: &fermata.Resolution{
			Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, AnsweredBy: &wireActor, At: anHourLater, Answer: fermata.Approve,
			Answers: map[string]any{"answer": fermata.Approve, "list": []string{"x"}, "number": 1.5, "yes": true}, Comment: "Go.", Channel: "web",
			Assurance: fermata.AssuranceSession, Outcome: fermata.TakeDefault, DecideYourself: true, TaskEnded: fermata.TaskDone, Action: action, ActionHash: fermata.HashAction(action),
			LateAnswers:     []fermata.LateAnswer{{By: wireActor, At: anHourLater, Answers: map[string]any{"answer": fermata.Reject}, Comment: "Sorry.", Restarted: true, Signed: signed}},
			OvertakenAnswer: held, Signed: signed,
		},
		HeldAnswer: held,
		TaskTitle:  "Deploy 512", TaskAgent: "review", Section: fermata.SectionHighRisk, Answerable: ptr(true), NeedsSignature: true, WaitingWork: &fermata.WaitingWork{Tasks: 3, Since: noon}, SnoozedUntil: &later,
		Fingerprint: "secret", HandedTo: "run_9", Version: 3,
		Asked: fermata.Asked{
			Body: "To *production*.",
			Items: []fermata.Item{{
				Key: "answer", Prompt: "Deploy?", Header: "Deploy", ResponseType: fermata.ResponseMultiChoice,
				Options: []fermata.Option{{Value: "a", Label: "A", Description: "the first", Recommended: true, Danger: true}},
				Other:   new(true), Required: ptr(true), Default: []string{"a"}, MinLength: ptr(1), MaxLength: ptr(9), Min: ptr(1.0), Max: ptr(2.5), Pattern: "a+",
			}},
			Context: &fermata.QuestionContext{Text: "The last deploy was *noon*.", Step: "3 of 4", Error: "exit 1", Preview: &fermata.Preview{Kind: "diff", Text: "-a\n+b"}},
			Action:  action, ActionHash: fermata.HashAction(action),
			Approvals: &fermata.Quorum{Required: 2, Self: true, Reject: "majority"}, Timeout: "30m", OnTimeout: fermata.Escalate,
			Escalation: []fermata.EscalationLevel{{Assignees: []string{"lead"}, Channels: []string{"phone"}, Timeout: "1h", OnTimeout: fermata.FailTask}}, Channels: []string{"slack"}, Reminders: []string{"10m"}, RemindEvery: "7d", ShareContext: true, Confidence: ptr(70), Risk: fermata.RiskHigh,
			CallbackURL: "https://example.com/answers", State: json.RawMessage(`{"at":7}`), Metadata: map[string]string{"pr": "7"}, LeastAssurance: fermata.AssuranceSession,
			AskedBy: agent,
		},
	}
}

func wireRetention(t *testing.T) {
	t.Helper()
	removal := fermata.Removal{
		Tasks: []fermata.RemovedTasks{{Project: "shop", State: fermata.TaskDone, Count: 3}}, Events: 40, UpTo: 900, Logs: 2, Deliveries: 5,
	}
	checkWire(t, "removal", removal)
	checkWire(t, "retention", fermata.Retention{
		KeepTasks: "365d", KeepLogs: "30d", KeepDeliveries: fermata.Never, OldestTask: &anHourLater, TrimmedTo: 900, RemovedEvents: 40,
		LastRemoval: &removal, LastRemovalAt: &anHourLater,
	})
	checkWire(t, "trimmed_range", fermata.SignedTrimmedRange{TrimmedRange: fermata.TrimmedRange{
		Workspace: "main", First: 1, Last: 900, PrevHash: "hash of event 0", Hash: "hash of event 900", Kept: 12, KeptHash: "hash of the kept events", At: noon,
	}, Note: "fermata trimmed range …"})
}

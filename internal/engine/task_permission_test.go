package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// withToken returns an agent with a token of this name.
func (w *world) withToken(id string) fermata.Caller {
	c := w.agent
	c.TokenID, c.Name = id, id
	return c
}

// maker returns a person who creates tasks and answers questions.
func (w *world) maker() fermata.Caller {
	c := w.alice
	c.Scopes = []fermata.Scope{fermata.ScopeAsk, fermata.ScopeAnswer}
	return c
}

// taskChanges returns one call for each verb by which an agent may change a task.
func (w *world) taskChanges(task *fermata.Task, q *fermata.Question) map[string]func(c fermata.Caller) error {
	ctx, title := w.Context(), "Another"
	soon := time.Now().Add(time.Hour)
	return map[string]func(c fermata.Caller) error{
		"progress": func(c fermata.Caller) error {
			return w.Engine.ReportProgress(ctx, c, task.ID, fermata.Progress{Message: "half"})
		},
		"update": func(c fermata.Caller) error {
			_, err := w.Engine.UpdateTask(ctx, c, task.ID, fermata.TaskPatch{Title: &title})
			return err
		},
		"defer":   func(c fermata.Caller) error { _, err := w.Engine.DeferTask(ctx, c, task.ID, &soon); return err },
		"message": func(c fermata.Caller) error { _, err := w.Engine.PostMessage(ctx, c, task.ID, "hello"); return err },
		"hand":    func(c fermata.Caller) error { return w.Engine.HandMessages(ctx, c, task.ID, []string{"msg_x"}) },
		"ask":     func(c fermata.Caller) error { _, err := w.Engine.Ask(ctx, c, task.ID, format); return err },
		"gate": func(c fermata.Caller) error {
			_, err := w.Engine.Gate(ctx, c, fermata.GateCall{TaskID: task.ID, Tool: "Bash", Input: []byte(`{"command":"ls"}`)})
			return err
		},
		"dry run": func(c fermata.Caller) error {
			_, err := w.Engine.Gate(ctx, c, fermata.GateCall{TaskID: task.ID, Tool: "Bash", Input: []byte(`{"command":"ls"}`), DryRun: true})
			return err
		},
		"subtask": func(c fermata.Caller) error {
			_, err := w.Engine.CreateTask(ctx, c, fermata.NewTask{Title: "Sub", ParentID: task.ID})
			return err
		},
		"cancel question": func(c fermata.Caller) error { _, err := w.Engine.CancelQuestion(ctx, c, q.ID, "no"); return err },
		"pause":           func(c fermata.Caller) error { _, err := w.Engine.PauseTask(ctx, c, task.ID); return err },
		"finish": func(c fermata.Caller) error {
			_, err := w.Engine.FinishExternal(ctx, c, task.ID, fermata.Finish{Result: fermata.ResultCompleted})
			return err
		},
		"cancel": func(c fermata.Caller) error { _, err := w.Engine.CancelTask(ctx, c, task.ID, "no"); return err },
	}
}

// An agent may change only its own tasks.
func TestAgentsAreApart(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		before := w.Head()
		for name, touch := range w.taskChanges(task, q) {
			if err := touch(w.withToken("tok_other")); fermata.CodeOf(err) != fermata.CodeForbidden {
				w.Errorf("%s: got %v, want it refused", name, err)
			}
		}
		w.Equal(before, w.Head())
		for name, touch := range w.taskChanges(task, q) {
			for _, c := range []fermata.Caller{w.agent, w.maker()} {
				// The state of the task may refuse the call, but the identity of the caller must not.
				if err := touch(c); name != "hand" && fermata.CodeOf(err) == fermata.CodeForbidden {
					w.Errorf("%s by %s: %v", name, c.Name, err)
				}
			}
		}
	})
}

// A run reads the files of the task that its spec names, so the caller must be allowed to add a subtask to that task.
func TestATaskUsesTheFilesOfOneThatTheCallerMayAddTo(t *testing.T) {
	for _, key := range []string{"working_copy", "from"} {
		t.Run(key, func(t *testing.T) {
			each(t, func(w *world) {
				create := func(c fermata.Caller, project, spec string) error {
					_, err := w.Engine.CreateTask(w.Context(), c, fermata.NewTask{Title: "Look", Project: project, Spec: []byte(spec)})
					return err
				}
				theirs, err := w.Engine.CreateTask(w.Context(), w.withToken("tok_other"), fermata.NewTask{Title: "Build"})
				w.OK(err)
				persons, err := w.Engine.CreateTask(w.Context(), w.maker(), fermata.NewTask{Title: "Build"})
				w.OK(err)
				elsewhere, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "Build", Project: "site"})
				w.OK(err)
				own := w.task(fermata.NewTask{})
				of := func(id string) string { return `{"` + key + `":"` + id + `"}` }
				before := w.Head()

				for _, id := range []string{theirs.ID, persons.ID} {
					w.CheckRefused(create(w.agent, "", of(id)), fermata.CodeForbidden)
					w.CheckRefused(create(w.agent, "", `{"`+key+`":"`+own.ID+`","push":true,"`+key+`":"`+id+`"}`), fermata.CodeForbidden)
					w.CheckRefused(create(w.agent, "", `{"working_copy":"`+own.ID+`","from":"`+own.ID+`","`+key+`":"`+id+`"}`), fermata.CodeForbidden)
				}
				w.CheckRefused(create(w.agent, "", of("task_01jxxxxxxxxxxxxxxxxxxxxxxx")), fermata.CodeNotFound)
				w.CheckRefused(create(w.agent, "", of("mine")), fermata.CodeNotFound)
				w.CheckRefused(create(w.agent, "", of(elsewhere.ID)), fermata.CodeInvalidRequest)
				w.CheckRefused(create(w.agent, "site", of(own.ID)), fermata.CodeInvalidRequest)
				blind := w.agent
				blind.TokenProjects = []string{"site"}
				w.CheckRefused(create(blind, "", of(own.ID)), fermata.CodeNotFound)
				w.CheckRefused(create(w.agent, "", of("../"+own.ID)), fermata.CodeInvalidRequest)
				w.CheckRefused(create(w.agent, "", `{"working_copy":"`+own.ID+`","from":"`+own.ID+`"}`), fermata.CodeInvalidRequest)
				w.Equal(before, w.Head())

				w.OK(create(w.agent, "", of(own.ID)))
				w.OK(create(w.agent, "site", of(elsewhere.ID)))
				w.OK(create(w.maker(), "", of(theirs.ID)))
				w.OK(create(w.agent, "", of("")))
				// No worker reads the spec of an external task, so it may name any task.
				_, err = w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "Outside", Runner: fermata.RunnerExternal, Spec: []byte(of(theirs.ID))})
				w.OK(err)
			})
		})
	}
}

// Only people may continue a task that a person stopped or that waits for a decision. An agent that resumes its own
// task would close the question that it waits for, and one that reopens it would undo a cancellation.
func TestNoAgentMovesItsTaskOn(t *testing.T) {
	each(t, func(w *world) {
		suspended, _ := w.createSuspended(format)
		w.task(fermata.NewTask{})
		paused := w.claim().Task
		_, err := w.Engine.PauseTask(w.Context(), w.alice, paused.ID)
		w.OK(err)
		w.task(fermata.NewTask{})
		cancelled := w.claim().Task
		_, err = w.Engine.CancelTask(w.Context(), w.alice, cancelled.ID, "stop")
		w.OK(err)
		before := w.Head()
		for _, c := range []fermata.Caller{w.agent, w.withToken("tok_other")} {
			for _, id := range []string{suspended.ID, paused.ID, cancelled.ID} {
				_, err = w.Engine.ResumeTask(w.Context(), c, id, "go on")
				w.CheckRefused(err, fermata.CodeForbidden)
				_, err = w.Engine.ReopenTask(w.Context(), c, id)
				w.CheckRefused(err, fermata.CodeForbidden)
			}
		}
		w.Equal(before, w.Head())
	})
}

// A task that a person created may be changed by the worker that claimed it
// last and by the agents that the worker named, until another worker claims it.
func TestARunIsItsWorkersAndItsAgents(t *testing.T) {
	each(t, func(w *world) {
		task, err := w.Engine.CreateTask(w.Context(), w.maker(), fermata.NewTask{Title: "Build"})
		w.OK(err)
		say := func(token string) fermata.Code {
			return fermata.CodeOf(w.Engine.ReportProgress(w.Context(), w.withToken(token), task.ID, fermata.Progress{Message: "half"}))
		}
		w.Equal(fermata.CodeForbidden, say("tok_agents"))
		for n, worker := range []string{"tok_first", "tok_second"} {
			agents := worker + "_agents"
			c, err := w.Engine.Claim(w.Context(), w.withToken(worker), fermata.ClaimRequest{Worker: "w", AgentTokenID: agents})
			w.OK(err)
			w.Equal(fermata.Code(""), say(worker))
			w.Equal(fermata.Code(""), say(agents))
			w.Equal(fermata.CodeForbidden, say("tok_other"))
			if n == 1 {
				w.Equal(fermata.CodeForbidden, say("tok_first_agents"))
			}
			sub, err := w.Engine.CreateTask(w.Context(), w.withToken(agents), fermata.NewTask{Title: "Sub", ParentID: task.ID, Runner: fermata.RunnerExternal})
			w.OK(err)
			_, err = w.Engine.CancelTask(w.Context(), w.withToken("tok_other"), sub.ID, "no")
			w.CheckRefused(err, fermata.CodeForbidden)
			// The agent that has the task also has its subtasks.
			_, err = w.Engine.CancelTask(w.Context(), w.withToken(worker), sub.ID, "no")
			w.OK(err)
			_, err = w.Engine.Release(w.Context(), w.withToken(worker), c.Run.ID, c.Run.Token)
			w.OK(err)
		}
	})
}

// Only an agent that acts by a grant is handed it.
func TestGrantsAreHandedToTheTasksOwnAgents(t *testing.T) {
	each(t, func(w *world) {
		given := w.approveAction("")
		q := w.checkQuestion(given.QuestionID, fermata.Answered)
		for _, c := range []fermata.Caller{w.withToken("tok_other"), w.agent} {
			rc, err := w.Engine.ResumeContext(w.Context(), c, q.TaskID)
			w.OK(err)
			if len(rc.Questions) != 1 || (rc.Questions[0].Grant != "") != (c.TokenID == w.agent.TokenID) {
				w.Errorf("%s reads %+v", c.TokenID, rc.Questions)
			}
		}
	})
}

// The key of an earlier call gives no access to a task that the caller has lost.
func TestAReplayIsForTheTasksOwnAgent(t *testing.T) {
	each(t, func(w *world) {
		task, err := w.Engine.CreateTask(w.Context(), w.maker(), fermata.NewTask{Title: "Build"})
		w.OK(err)
		ctx := engine.WithIdempotency(w.Context(), "k", "f")
		say := func() error {
			_, err := w.Engine.PostMessage(ctx, w.withToken("tok_first_agents"), task.ID, "half")
			return err
		}
		for _, worker := range []string{"tok_first", "tok_second"} {
			c, err := w.Engine.Claim(w.Context(), w.withToken(worker), fermata.ClaimRequest{Worker: "w", AgentTokenID: worker + "_agents"})
			w.OK(err)
			if worker == "tok_first" {
				w.OK(say())
				w.OK(say())
			} else {
				w.CheckRefused(say(), fermata.CodeForbidden)
			}
			_, err = w.Engine.Release(w.Context(), w.withToken(worker), c.Run.ID, c.Run.Token)
			w.OK(err)
		}
	})
}

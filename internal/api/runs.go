package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// logAppend is output of a run.
type logAppend struct {
	Token int64  `json:"token" doc:"the fencing token of the run"`
	Text  string `json:"text" maxLength:"262144"`
}

// logNext is the offset of the next piece of a log.
type logNext struct {
	Next int64 `json:"next" doc:"bytes"`
}

// release hands a task back.
type release struct {
	Token int64 `json:"token"`
}

// logInput selects a part of a log.
type logInput struct {
	IDInput
	Offset int64  `query:"offset" minimum:"0" doc:"in bytes"`
	Wait   string `query:"wait" maxLength:"20" doc:"how long to wait for more, up to 60s"`
}

// logPart is a part of a run's log.
type logPart struct {
	Chunks []fermata.LogChunk `json:"chunks"`
	Next   int64              `json:"next" doc:"the offset to ask for next"`
	Ended  bool               `json:"ended" doc:"nothing will follow"`
}

func (s *Server) registerRuns() {
	e := s.Engine
	addOperation(s, operation("GET /tasks/{id}/runs", "list-runs", "List the runs of a task"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*reply[page[*fermata.Run]], error) {
			return listOf(e.Runs(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /runs/{id}", "get-run", "Read a run"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*reply[*fermata.Run], error) {
			return replyOf(e.Run(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /runs/{id}/log", "get-run-log", "Read the log of a run, or wait for more of it"), s.log)
	addOperation(s, operation("POST /runs/{id}/heartbeat", "heartbeat", "Extend a lease, and hear what reached the task"),
		func(ctx context.Context, c fermata.Caller, in *idBody[fermata.Heartbeat]) (*reply[*fermata.HeartbeatReply], error) {
			return replyOf(e.Heartbeat(ctx, c, in.ID, in.Body))
		})
	addOperation(s, operation("POST /runs/{id}/log", "append-run-log", "Append to the log of a run"),
		func(ctx context.Context, c fermata.Caller, in *idBody[logAppend]) (*reply[logNext], error) {
			next, err := e.AppendLog(ctx, c, in.ID, in.Body.Token, in.Body.Text)
			return replyOf(logNext{next}, err)
		})
	addOperation(s, operation("POST /runs/{id}/progress", "report-run-progress", "Report progress of a run"),
		func(ctx context.Context, c fermata.Caller, in *idBody[fermata.Progress]) (*empty, error) {
			return emptyOf(e.ReportRunProgress(ctx, c, in.ID, in.Body))
		})
	addOperation(s, operation("POST /runs/{id}/finish", "finish-run", "End a run with a result"),
		s.finish)
	addOperation(s, operation("POST /runs/{id}/release", "release-run", "Give a task back unharmed"),
		func(ctx context.Context, c fermata.Caller, in *idBody[release]) (*taskReply, error) {
			return replyOf(e.Release(ctx, c, in.ID, in.Body.Token))
		})
}

// finishInput is the result of a run. With a claim, it has the token of the worker's agents.
type finishInput struct {
	IDInput
	AgentToken string `header:"Fermata-Agent-Token" doc:"with a claim: as in POST /v1/claims"`
	Body       fermata.Finish
}

// finish serves POST /v1/runs/{id}/finish. The result counts even if the token of the agents is not valid any more; only
// the claim is left out then.
func (s *Server) finish(ctx context.Context, c fermata.Caller, in *finishInput) (*reply[*fermata.FinishReply], error) {
	if r := in.Body.Claim; r != nil {
		agents, err := s.agentCaller(ctx, c, in.AgentToken)
		if fermata.CodeOf(err) == fermata.CodeUnauthenticated {
			in.Body.Claim = nil
		} else if err != nil {
			return nil, err
		}
		r.AgentTokenID, r.Visible = agents.TokenID, agents.VisibleProjects()
	}
	return replyOf(s.Engine.Finish(ctx, c, in.ID, in.Body))
}

func (s *Server) log(ctx context.Context, c fermata.Caller, in *logInput) (*reply[logPart], error) {
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	waiting, done := s.waitContext(ctx)
	defer done()
	chunks, next, ended, err := s.Engine.Log(waiting, c, in.ID, in.Offset, wait)
	if s.wasDrained(ctx, err) {
		chunks, next, ended, err = s.Engine.Log(ctx, c, in.ID, in.Offset, 0)
	}
	if chunks == nil {
		chunks = []fermata.LogChunk{}
	}
	return replyOf(logPart{chunks, next, ended}, err)
}

package main

import "strings"

// rawWrite is a statement of the raw limit. Each changes exactly one row.
type rawWrite struct {
	sql  string
	args []any
}

// The statements are those of internal/store.
const (
	rawInsertTask = `INSERT INTO tasks (workspace_id, id, project, parent_id, title, body, state, reason, priority, size, agent,
		runner, labels, spec, blocked_by, defer_until, max_attempts, unread, ends_with_answer, session_key,
		created_by, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`

	rawUpdateTask = `UPDATE tasks SET state = $1, reason = $2, attempts = $3, runs = $4, run_id = $5, session = $6, checkpoint = $7,
		summary = $8, pending_question_id = $9, unread = $10, defer_until = $11, updated_at = $12, version = version + 1
		WHERE workspace_id = $13 AND id = $14 AND version = $15`

	rawInsertRun = `INSERT INTO runs (workspace_id, id, task_id, attempt, state, worker, runner, token, lease_until, claimed_from, started_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

	rawUpdateRun = `UPDATE runs SET state = $1, lease_until = $2, result = $3, summary = $4, details = $5, question_id = $6, ended_at = $7
		WHERE workspace_id = $8 AND id = $9 AND token = $10 AND state || '' = 'running'`

	rawInsertQuestion = `INSERT INTO questions (workspace_id, id, task_id, run_id, project, type, status, title, priority, deadline,
		assignees, idempotency_key, dedupe_key, fingerprint, asked, resolution, handed_to, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`

	rawUpdateQuestion = `UPDATE questions SET status = $1, deadline = $2, assignees = $3, escalation_level = $4, ask_count = $5,
		votes = $6, resolution = $7, handed_to = $8, version = version + 1
		WHERE workspace_id = $9 AND id = $10 AND version = $11 AND status || '' = 'pending'`

	rawHandQuestions = `UPDATE questions SET handed_to = $1 WHERE workspace_id = $2 AND task_id = $3 AND status <> 'pending'
		AND handed_to = ''`

	rawInsertClosing = `INSERT INTO closings (workspace_id, asked_at, question_id, closed_at, project, type, status, decided_by,
		responder, channel, alike) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (workspace_id, asked_at, question_id) DO NOTHING`

	rawInsertEvent = `INSERT INTO events (workspace_id, seq, type, task_id, question_id, run_id,
		actor_kind, actor_id, actor_name, at, data, prev_hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

	rawMoveCounter = "UPDATE workspaces SET event_seq = $1, event_hash = $2 WHERE id = $3 AND event_seq = $4"
)

// These values are as long as the server's.
const (
	rawWorkspace = "default"
	rawHash      = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
	rawActor     = "tok_01kb2m5q7x8e3v9r4t6w"
	rawCreatedBy = `["agent","tok_01kb2m5q7x8e3v9r4t6w","agent-1"]`
	rawTitle     = "Which format for the configuration?"
	rawAsked     = `{"body":"Both parsers are dependencies already. TOML is what the other services use.","items":[{"key":"answer","prompt":"Which format shall the file have?","response_type":"choice","options":[{"value":"toml","description":"as the other services"},{"value":"yaml","description":"as the deployment files"}]}],"timeout":"1d","on_timeout":"fail","asked_by":` + rawCreatedBy + `}`
	rawAnswered  = `{"status":"answered","decided_by":"human","answered_by":{"kind":"human","id":"mem_01kb2m5q7x8e3v9r4t6w","name":"person-1"},"at":"2026-01-02T03:04:05.678Z","answer":"toml","answers":{"answer":"toml"},"comment":"As everywhere else.","channel":"cli","assurance":"channel"}`
	rawClosed    = `{"type":"blocking","project":"default","decided_by":"human","channel":"cli","answers":{"answer":"toml"},"comment":"As everywhere else.","seconds":0.012,"from":"awaiting_input","to":"input_received"}`
	rawAskedData = `{"type":"blocking","title":"` + rawTitle + `","project":"default","from":"in_progress","to":"awaiting_input"}`
)

// rawHashBytes is a hash as it is stored.
var rawHashBytes = []byte(rawHash[:32])

// rawCycle holds the ids of the rows of one cycle. Each ends with a key that is as long as the time part and the random
// part of an id.
type rawCycle struct {
	task, first, second, question string
	now                           int64
}

// rawStep returns the writes of one request of a cycle, '1' to '6'. They are as long as those of the body.
func rawStep(step byte, key string, now int64, _ []byte) []rawWrite {
	// The key shares memory with the request's path, but the rows outlive the request.
	key = strings.Clone(key)
	c := rawCycle{"task_" + key, "run_" + key + "1", "run_" + key + "2", "q_" + key, now}
	switch step {
	case '1':
		return c.create()
	case '2':
		return c.claim(1, "", "open", c.first)
	case '3':
		return c.ask()
	case '4':
		return c.answer()
	case '5':
		return append(c.claim(4, c.first, "input_received", c.second),
			rawWrite{rawHandQuestions, []any{c.second, rawWorkspace, c.task}})
	default:
		return c.complete()
	}
}

func (c rawCycle) event(typ, question, run, data string) rawWrite {
	return rawWrite{rawInsertEvent, []any{
		rawWorkspace, int64(0), typ, c.task, question, run, "agent", rawActor, "agent-1", c.now, data, rawHashBytes,
	}}
}

func (c rawCycle) saveTask(version int64, state, run, summary, question string, unread int) rawWrite {
	return rawWrite{rawUpdateTask, []any{
		state, "", 0, 1, run, "", "", summary, question, unread, int64(0), c.now, rawWorkspace, c.task, version,
	}}
}

func (c rawCycle) endRun(run, result, summary, question string, token int) rawWrite {
	return rawWrite{rawUpdateRun, []any{
		"finished", c.now, result, summary, "", question, c.now, rawWorkspace, run, token,
	}}
}

func (c rawCycle) create() []rawWrite {
	title, body := quotedAfter([]byte(taskBody), `"title":"`), quotedAfter([]byte(taskBody), `"body":"`)
	return []rawWrite{
		{rawInsertTask, []any{
			rawWorkspace, c.task, "default", "", title, body, "open", "", 2, "", "", "", "", "", "", int64(0), 3, 0, int64(0), "",
			rawCreatedBy, c.now, c.now,
		}},
		c.event("task.created", "", "", `{"title":"`+title+`","to":"open"}`),
	}
}

func (c rawCycle) claim(version int64, _, from, run string) []rawWrite {
	token := 1
	if from == "input_received" {
		token = 2
	}
	return []rawWrite{
		{rawInsertRun, []any{rawWorkspace, run, c.task, token, "running", "bench-worker", "", token, c.now + 3_600_000, from, c.now}},
		c.saveTask(version, "in_progress", run, "", "", 0),
		c.event("task.claimed", "", run, `{"from":"`+from+`","to":"in_progress","worker":"bench-worker"}`),
	}
}

const rawSummary = "Read the sources; the format is not decided."

func (c rawCycle) ask() []rawWrite {
	return []rawWrite{
		{rawInsertQuestion, []any{
			rawWorkspace, c.question, c.task, c.first, "default", "blocking", "pending", rawTitle, 2, c.now + 86_400_000,
			"", "", "", "", rawAsked, "", "", c.now,
		}},
		c.endRun(c.first, "needs_input", rawSummary, c.question, 1),
		c.saveTask(2, "awaiting_input", c.first, rawSummary, c.question, 0),
		c.event("run.finished", "", c.first, `{"result":"needs_input"}`),
		c.event("question.asked", c.question, c.first, rawAskedData),
	}
}

func (c rawCycle) answer() []rawWrite {
	return []rawWrite{
		{rawUpdateQuestion, []any{
			"answered", c.now, "", 0, 1, "", rawAnswered, "", rawWorkspace, c.question, int64(1),
		}},
		{rawInsertClosing, []any{
			rawWorkspace, c.now, c.question, c.now, "default", "blocking", "answered", "human", "mem_01kb2m5q7x8e3v9r4t6w", "cli", rawTitle,
		}},
		c.saveTask(3, "input_received", c.first, rawSummary, "", 1),
		c.event("question.answered", c.question, "", rawClosed),
	}
}

func (c rawCycle) complete() []rawWrite {
	summary := quotedAfter([]byte(finishRest), `"summary":"`)
	return []rawWrite{
		c.endRun(c.second, "completed", summary, "", 2),
		c.saveTask(5, "done", c.second, summary, "", 0),
		c.event("run.finished", "", c.second, `{"result":"completed","summary":"`+summary+`"}`),
		c.event("task.ended", "", c.second, `{"from":"in_progress","to":"done"}`),
	}
}

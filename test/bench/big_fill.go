package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// sizes are the numbers of rows of a big database.
type sizes struct {
	// groups is a number of 31 tasks: 15 that ended, 5 that are ready, 1 that waits for a person and 10 runs of workflows. Ten of
	// those that ended have an answered question.
	groups                                int
	events, deliveries, members, projects int
}

var bigSizes = sizes{groups: 20_000, events: 2_800_000, deliveries: 500_000, members: 2000, projects: 500}

func (n sizes) tasks() int { return 31 * n.groups }

// part returns the sizes divided by a factor.
func (n sizes) part(factor int) sizes {
	return sizes{n.groups / factor, n.events / factor, n.deliveries / factor, max(n.members/factor, 1), max(n.projects/factor, 1)}
}

// bigResolution is how the closed questions ended.
const bigResolution = `{"answer":true,"decided_by":"human","at":"2026-09-21T14:13:20Z"}`

// bigPerson is the person who reads, and a member of 50 groups.
const bigPerson = 1

// rareRows is how many of the oldest tasks, with what belongs to them, are what the filters look for.
const rareRows = 310

// bigID is an expression for the id of row i. Its ending is spread as the random part of an id is.
func bigID(prefix, i string) string {
	return fmt.Sprintf("'%s_' || substr(CAST(10000000000 + %[2]s AS TEXT), 2) || substr(CAST(10000000000 + (%[2]s * 2654435761) %% 10000000000 AS TEXT), 2)", prefix, i)
}

// bigEnding returns the short id of row i.
func bigEnding(i int64) string { return fmt.Sprintf("%010d", i*2654435761%10_000_000_000)[2:] }

// bigStatements returns the statements that fill a migrated database. A task that the
// engine suspended is the model: its question and its actor are copied.
func bigStatements(n sizes, seq int64) []string {
	rows := func(count int) string {
		return fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", count-1)
	}
	tasks := rows(n.tasks())
	project := fmt.Sprintf("CASE WHEN i < %d THEN 'rare' ELSE 'project-' || CAST(i %% %d AS TEXT) END", rareRows, n.projects)
	rare := func(yes, no string) string {
		return fmt.Sprintf("CASE WHEN i < %d THEN %s ELSE %s END", rareRows, yes, no)
	}
	const at = "1790000000000 + i * 1000"
	return []string{
		rows(n.projects) + `INSERT INTO projects (workspace_id, name, created_at) SELECT 'default', 'project-' || CAST(i AS TEXT), 0 FROM n WHERE true`,
		rows(n.members) + `INSERT INTO members (workspace_id, id, handle, role, member_groups, created_at)
			SELECT 'default', ` + bigID("mem", "i") + `, 'member-' || CAST(i AS TEXT), 'responder', '["group-' || CAST(i % 200 AS TEXT) || '"]', 0 FROM n WHERE true`,
		fmt.Sprintf(`UPDATE members SET member_groups = '["group-%s"]' WHERE handle = 'person-%d'`, strings.Join(numbers(50), `","group-`), bigPerson),
		`INSERT INTO channels (workspace_id, id, name, kind, enabled, created_at) VALUES ('default', 'ch_rare', 'rare', 'webhook', 0, 0)`,
		tasks + `INSERT INTO tasks (workspace_id, id, project, title, state, priority, agent, runner, labels, defer_until, max_attempts, pending_question_id, created_by, created_at, updated_at)
			SELECT 'default', ` + bigID("task", "i") + `, ` + project + `, ` + rare("'Find the needle'", "'Paint the fence of the lighthouse'") + `,
			CASE WHEN i % 31 < 15 OR i % 31 > 20 THEN ` + rare("'failed'", "'done'") + `
				WHEN i % 31 = 20 THEN CASE WHEN i < 310 OR i % 2 = 0 THEN 'awaiting_input' ELSE 'awaiting_approval' END WHEN i % 5 = 0 THEN 'blocked' WHEN i % 5 = 1 THEN 'deferred' ELSE 'open' END,
			i % 5, ` + rare("'rare'", "CASE WHEN i % 3 = 0 THEN 'review' ELSE '' END") + `, CASE WHEN i % 31 > 20 THEN 'workflow' ELSE 'claude' END,
			` + rare(`'["rare"]'`, `CASE WHEN i % 10 = 0 THEN '["area/web","bug"]' ELSE '' END`) + `,
			CASE WHEN i % 31 BETWEEN 15 AND 19 AND i % 5 = 1 THEN 4000000000000 ELSE 0 END, 3,
			CASE WHEN i % 31 = 20 THEN ` + bigID("q", "i") + ` ELSE '' END, created_by, ` + at + `, 1790000000000 + (i * 2654435761) % 1000000007
			FROM n CROSS JOIN (SELECT created_by FROM tasks WHERE state = 'awaiting_input') AS m WHERE true`,
		tasks + `INSERT INTO questions (workspace_id, id, task_id, project, type, status, title, priority, deadline, assignees, asked, resolution, created_at, asker)
			SELECT 'default', ` + bigID("q", "i") + `, ` + bigID("task", "i") + `, ` + project + `, ` + rare("'error_recovery'", "CASE i % 2 WHEN 0 THEN 'blocking' ELSE 'approval' END") + `,
			CASE WHEN i % 31 = 20 THEN 'pending' ELSE ` + rare("'timed_out'", "'answered'") + ` END, 'Which format?', ` + rare("4", "i % 4") + `,
			4000000000000 - i, ` + rare(`'["someone"]'`, `CASE i % 4 WHEN 0 THEN '["group:group-' || CAST(i % 200 AS TEXT) || '"]' ELSE '' END`) + `,
			asked, CASE WHEN i % 31 = 20 THEN '' ELSE '` + bigResolution + `' END, ` + at + `, asker
			FROM n CROSS JOIN (SELECT asked, asker FROM questions) AS m WHERE i % 31 < 10 OR i % 31 = 20`,
		`INSERT INTO closings (workspace_id, asked_at, question_id, closed_at, project, type, status, decided_by, responder, channel, alike)
			SELECT workspace_id, created_at, id, created_at + 60000, project, type, status, 'human', 'mem_1', 'web', 'which format?'
			FROM questions WHERE status <> 'pending' AND title = 'Which format?'`,
		tasks + `INSERT INTO workflow_runs (workspace_id, task_id, workflow, hash, trigger_type)
			SELECT 'default', ` + bigID("task", "i") + `, 'flow-' || CAST(i % 20 AS TEXT), 'h1', ` + rare("'webhook'", "'manual'") + ` FROM n WHERE i % 31 > 20`,
		rows(n.deliveries) + `INSERT INTO deliveries (workspace_id, id, task_id, channel_id, kind, member_id, purpose, state, unique_key, next_at, created_at)
			SELECT 'default', ` + bigID("dl", "i") + `, ` + bigID("task", "i") + `, ` + rare("'ch_rare'", "'ch_other'") + `, 'webhook', ` + rare("'mem_rare'", bigID("mem", "i % 2000")) + `,
			'asked', ` + rare("'dead'", "'sent'") + `, CAST(i AS TEXT), 0, ` + at + ` FROM n WHERE true`,
		rows(n.events) + fmt.Sprintf(`INSERT INTO events (workspace_id, seq, type, task_id, question_id, actor_kind, actor_id, actor_name, at, data, prev_hash)
			SELECT 'default', %[1]d + 1 + i, CASE WHEN i < 20 OR i > %[3]d THEN 'question.escalated' ELSE
				CASE i %% 7 WHEN 0 THEN 'task.created' WHEN 1 THEN 'task.claimed' WHEN 2 THEN 'task.state_changed' WHEN 3 THEN 'run.finished'
				WHEN 4 THEN 'question.asked' WHEN 5 THEN 'question.answered' ELSE 'task.ended' END END,
			%[2]s, CASE WHEN i %% 7 = 4 THEN %[4]s ELSE '' END, 'agent', 'tok_1', 'agent-1', `+at+`, '{"state":"done","before":"in_progress"}', event_hash
			FROM n CROSS JOIN (SELECT event_hash FROM workspaces WHERE id = 'default') AS w WHERE true`,
			seq, bigID("task", "i / 5"), n.events-20, bigID("q", "i / 5")),
		fmt.Sprintf("UPDATE workspaces SET event_seq = %d WHERE id = 'default'", seq+int64(n.events)),
	}
}

// numbers returns the numbers below n, as texts.
func numbers(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return all
}

// fillBig fills the database with rows of the given sizes. The hashes of the events do not chain, but no measurement
// here reads the hashes.
func (d *database) fillBig(ctx context.Context, n sizes) error {
	if err := d.withEngine(ctx, func(e *engine.Engine) error { return suspendMany(ctx, e, 1) }); err != nil {
		return err
	}
	var head fermata.Chain
	if err := d.withDB(ctx, func(db *store.DB) (err error) {
		head, err = db.Reader(ctx, store.DefaultWorkspace).Head()
		return err
	}); err != nil {
		return err
	}
	if err := d.runAll(ctx, append(bigStatements(n, head.Seq), d.analyzeStatements()...)...); err != nil {
		return err
	}
	// The server checks a database that another program has changed. This does it before the server starts.
	return d.withDB(ctx, func(*store.DB) error { return nil })
}

// analyzeStatements returns the statements that collect statistics, as PostgreSQL does by itself in the background.
func (d *database) analyzeStatements() []string {
	if d.kind == postgres {
		return []string{"VACUUM ANALYZE"}
	}
	return nil
}

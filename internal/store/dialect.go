package store

import "github.com/fermata-hq/fermata"

// dialect holds the SQL that differs between the two databases.
type dialect struct {
	name string
	// hasRoundTrips reports whether the database is another process, so that each look-up costs a round trip.
	hasRoundTrips bool
	// inList is the condition that a column is in a JSON list of texts, with %s for the column and %d for the
	// parameter's number.
	inList string
	// byID is the query for the rows of workspace $1 whose ids are in the JSON list $2, with %s for the columns and
	// for the table.
	byID string
	// listedRow joins the rows of a table, in place of %s, to a query before it that yields their ids as listed_id.
	listedRow string
	// inQuery is the condition that a column is in the result of a query that runs once, with %s for the column and
	// for the query.
	inQuery string
	// like is the operator that compares texts and ignores case.
	like string
	// clock is an expression for the time in milliseconds. It is empty if the database uses the process's clock.
	clock string
	// serverStart is an expression for the time when the server started, in microseconds. It tells servers apart: behind a
	// pooler or a proxy, another server can take the place of the first on a connection that stays. It is empty if there is
	// no server.
	serverStart string
	// lockRow is the end of a SELECT that locks the row.
	lockRow string
	// guard is a statement around another one, which takes the place of %s. It fails unless the inner statement changes
	// exactly one row. It is empty if the commit waits for the result of each statement anyway.
	guard string
	// insertEvents returns the statements that insert the events of a transaction.
	insertEvents func([]*fermata.Event) []statement
	// field is an expression for a text within a JSON column, with %s for the column and for the path. The parts of
	// the path, from the outermost one, are joined by fieldJoin.
	field, fieldJoin string
	// elements is the table of the elements of a JSON list, with %d for the parameter's number. Its column is value.
	elements string
	// tableCount is the query for the number of tables with the name $1, 0 or 1.
	tableCount string
	// reserveSpace takes a megabyte on the database's disk and gives it back with the commit. It is empty for a
	// database that also refuses small writes when its disk is full.
	reserveSpace string
	// hasLabel is the condition that the JSON list of labels contains a text.
	hasLabel string
}

var sqliteDialect = dialect{
	name:    "sqlite",
	inList:  "%s IN (SELECT value FROM json_each($%d))",
	byID:    "SELECT %s FROM %s WHERE workspace_id = $1 AND id IN (SELECT value FROM json_each($2))",
	inQuery: "%s IN (%s)",

	listedRow: "CROSS JOIN %s WHERE id = listed_id AND ",
	like:      "LIKE",

	insertEvents: insertEventsSeparately,
	field:        "json_extract(%s, '$.%s')",
	fieldJoin:    ".",
	elements:     "json_each($%d)",
	tableCount:   "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = $1",
	hasLabel:     "EXISTS (SELECT 1 FROM json_each(CASE WHEN labels = '' THEN '[]' ELSE labels END) WHERE value = $%d)",
}

var postgresDialect = dialect{
	name:          "postgres",
	hasRoundTrips: true,
	// With an array, PostgreSQL uses the index, even if the table was small when the plan was made. A query would
	// become a join that reads the whole table.
	inList: "%s = ANY (ARRAY(SELECT jsonb_array_elements_text($%d::text::jsonb)))",
	// Each row is looked up by its whole key. A list would become a filter if the plan was made while the table was
	// small. When the table has grown, such a plan reads the whole workspace through the same index. OFFSET 0 keeps
	// PostgreSQL from merging the parts.
	byID: "SELECT %s FROM jsonb_array_elements_text($2::text::jsonb) AS wanted (key), " +
		"LATERAL (SELECT * FROM %[2]s WHERE workspace_id = $1 AND id = wanted.key OFFSET 0) AS %[2]s",
	inQuery: "%s = ANY (ARRAY(%s))",
	// PostgreSQL would merge the two in the order of the ids, and read all rows up to the first one that is listed.
	listedRow: "CROSS JOIN LATERAL (SELECT * FROM %[1]s WHERE workspace_id = $1 AND id = listed_id OFFSET 0) AS %[1]s WHERE ",
	like:      "ILIKE",
	clock:     "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
	lockRow:   " FOR UPDATE",

	serverStart: "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint",

	insertEvents: insertEventsTogether,
	field:        "(%s::jsonb #>> '{%s}')",
	fieldJoin:    ",",
	elements:     "jsonb_array_elements($%d::text::jsonb)",
	tableCount:   "SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)",
	guard:        "WITH changed AS (%s RETURNING 1) SELECT 1 / (CASE count(*) WHEN 1 THEN 1 ELSE 0 END) FROM changed",
	hasLabel:     "(CASE WHEN labels = '' THEN '[]' ELSE labels END)::jsonb ? $%d",
	// A role that may not create temporary tables takes no space.
	reserveSpace: `DO $$ BEGIN
		IF has_database_privilege(current_database(), 'TEMPORARY') THEN
			CREATE TEMPORARY TABLE claimed_space ON COMMIT DROP AS SELECT repeat('x', 1900) AS filler FROM generate_series(1, 540);
		END IF; END $$`,
}

const insertEventSQL = `INSERT INTO events (workspace_id, seq, type, task_id, question_id, run_id,
	actor_kind, actor_id, actor_name, at, data, prev_hash) `

// insertEventsSeparately inserts the events one by one.
func insertEventsSeparately(events []*fermata.Event) []statement {
	var all []statement
	for _, e := range events {
		all = append(all, statement{one: true, sql: insertEventSQL + "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", args: []any{
			e.WorkspaceID, e.Seq, string(e.Type), e.TaskID, e.QuestionID, e.RunID,
			string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, e.At.UnixMilli(), string(e.Data), hashBytes(e.PrevHash),
		}})
	}
	return all
}

// insertEventsTogether inserts the events with one statement, column by column. All events must have the same workspace and
// instant.
func insertEventsTogether(events []*fermata.Event) []statement {
	var seqs []int64
	var texts [8][]string
	var hashes [][]byte
	for _, e := range events {
		seqs = append(seqs, e.Seq)
		for i, s := range []string{
			string(e.Type), e.TaskID, e.QuestionID, e.RunID, string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, string(e.Data),
		} {
			texts[i] = append(texts[i], s)
		}
		hashes = append(hashes, hashBytes(e.PrevHash))
	}
	args := []any{events[0].WorkspaceID, events[0].At.UnixMilli(), seqs, hashes}
	for _, column := range texts {
		args = append(args, column)
	}
	return []statement{{args: args, sql: insertEventSQL + `SELECT $1, seq, type, task_id, question_id, run_id,
		actor_kind, actor_id, actor_name, $2, data, prev_hash
		FROM unnest($3::bigint[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
		$11::text[], $12::text[])
		AS e (seq, prev_hash, type, task_id, question_id, run_id, actor_kind, actor_id, actor_name, data)`}}
}

// unlockedNamesSQL is the query for the names whose advisory lock is not held in this PostgreSQL database.
const unlockedNamesSQL = `SELECT p.name FROM unnest($1::text[], $2::bigint[]) AS p (name, key) WHERE NOT EXISTS (
	SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	AND (l.classid::bigint << 32 | l.objid::bigint) = p.key)`

// These statements run on PostgreSQL only.
const (
	// schemaSQL returns the schema of a connection. takeLockSQL also takes the advisory lock $1 for the session.
	schemaSQL   = "SELECT coalesce(current_schema(), '')"
	takeLockSQL = "SELECT coalesce(current_schema(), ''), pg_advisory_lock($1)::text"
	// identitySQL returns the object ids of the database and the schema, which are the same on a standby. So is the
	// identifier of the cluster, which systemSQL returns.
	identitySQL = `SELECT d.oid, coalesce(n.oid, 0) FROM pg_database d LEFT JOIN pg_namespace n ON n.nspname = current_schema()
	WHERE d.datname = current_database()`
	systemSQL = "SELECT system_identifier FROM pg_control_system()"
	// standbyStateSQL returns the state of the workspace $1 on a standby, in one snapshot: the number of its last event,
	// the hash of event $2, and whether the standby has the transaction $3. An event's hash is the prev_hash of the next
	// one.
	standbyStateSQL = `SELECT pg_is_in_recovery(), event_seq,
	CASE WHEN event_seq = $2::bigint THEN event_hash
		ELSE (SELECT prev_hash FROM events WHERE workspace_id = $1 AND seq = $2::bigint + 1) END,
	$3::text = '' OR pg_visible_in_snapshot(nullif($3::text, '')::xid8, pg_current_snapshot())
	FROM workspaces WHERE id = $1`
)

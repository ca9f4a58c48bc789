package store

// dialect is the list of what differs between the two databases.
type dialect struct {
	name string
	// inList is a condition that a column is in a JSON list of texts, with %s
	// for the column and %d for the parameter's number.
	inList string
	// inQuery is a condition that a column is among the rows of a query that
	// is run once, with %s for both.
	inQuery string
	// like is the operator that ignores case.
	like string
	// clock is an expression for the time in milliseconds; empty where the
	// process's clock is the database's.
	clock string
	// lockRow locks a row that was selected.
	lockRow string
	// guard makes a statement fail unless it changes exactly one row, with %s
	// for the statement; empty where the commit waits for its result anyway.
	guard string
	// hasLabel is a condition that a JSON list column contains a text.
	hasLabel string
}

var sqliteDialect = dialect{
	name:     "sqlite",
	inList:   "%s IN (SELECT value FROM json_each($%d))",
	inQuery:  "%s IN (%s)",
	like:     "LIKE",
	hasLabel: "EXISTS (SELECT 1 FROM json_each(CASE WHEN labels = '' THEN '[]' ELSE labels END) WHERE value = $%d)",
}

var postgresDialect = dialect{
	name:     "postgres",
	inList:   "%s IN (SELECT jsonb_array_elements_text($%d::text::jsonb))",
	inQuery:  "%s = ANY (ARRAY(%s))",
	like:     "ILIKE",
	clock:    "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
	lockRow:  " FOR UPDATE",
	guard:    "WITH changed AS (%s RETURNING 1) SELECT 1 / (CASE count(*) WHEN 1 THEN 1 ELSE 0 END) FROM changed",
	hasLabel: "(CASE WHEN labels = '' THEN '[]' ELSE labels END)::jsonb ? $%d",
}

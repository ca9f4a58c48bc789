package faults

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// If the clocks of the machine and of the database differ, or the database's clock jumps, readiness, the log and the
// doctor report it until the clocks are right again. The server stays ready meanwhile.
func TestClocksDisagree(t *testing.T) {
	t.Parallel()
	binary := process.Binary(t)
	database, setClock := wrongClock(t)
	setClock("-7 seconds")
	s := &served{Server: process.Serve(t, binary, database), t: t}
	var err error
	if s.admin, err = client.New(s.URL, s.FirstToken); err != nil {
		t.Fatal(err)
	}
	s.awaitReadiness("the clock of the server's machine is 7s ahead of the database's", true)
	s.checkClock(binary, "warn  db-clock  the clock of the server's machine is 7s ahead of the database's")
	patience.Await(t, "the log reports it", func() bool { return s.HasWritten("the clock of this machine is not the database's") })

	setClock("0")
	s.awaitReadiness("database's", false)
	s.checkClock(binary, "ok    db-clock  it runs evenly, ")
	patience.Await(t, "the log tells that it is over", func() bool { return s.HasWritten("the clock of this machine agrees with the database's again") })

	setClock("2 hours")
	s.awaitReadiness("the database's clock jumped by 2h0m0s", true)
	s.checkClock(binary, "warn  db-clock  the database's clock jumped by 2h0m0s: nothing times out until it is right again")
	patience.Await(t, "the log reports the jump", func() bool { return s.HasWritten("the database's clock jumped: nothing times out") })
	setClock("0")
	s.awaitReadiness("database's", false)
	patience.Await(t, "the log tells that the clock is right", func() bool { return s.HasWritten("the database's clock is right again") })
	if err := s.create(); err != nil {
		t.Error(err)
	}
}

// wrongClock returns an empty PostgreSQL database, and a function that sets its clock wrong by an interval.
func wrongClock(t *testing.T) (database []string, set func(by string)) {
	t.Helper()
	database = process.Postgres(t)
	u, err := url.Parse(database[1])
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	query := u.Query()
	schema := query.Get("search_path")
	run(strings.ReplaceAll(`CREATE TABLE clock_error (by interval NOT NULL); INSERT INTO clock_error VALUES ('0');
		CREATE FUNCTION SCHEMA.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
		AS 'SELECT pg_catalog.clock_timestamp() + by FROM SCHEMA.clock_error'`, "SCHEMA", schema))
	// PostgreSQL's own functions come first unless the path says otherwise.
	query.Set("search_path", schema+",pg_catalog")
	u.RawQuery = query.Encode()
	database[1] = u.String()
	return database, func(by string) { t.Helper(); run("UPDATE clock_error SET by = '" + by + "'") }
}

// awaitReadiness waits until the server is ready and gives the warning, or, if warned is false, does not give it.
func (s *served) awaitReadiness(warning string, warned bool) {
	s.t.Helper()
	patience.Await(s.t, "the server is ready, and its warning is right: "+warning, func() bool {
		code, text := s.fetch("/readyz")
		return code == http.StatusOK && strings.Contains(text, warning) == warned
	})
}

// checkClock runs the doctor. It must report no failure, and print the line.
func (s *served) checkClock(binary, line string) {
	s.t.Helper()
	d := process.Start(s.t, binary, []string{"FERMATA_URL=" + s.URL, "FERMATA_TOKEN=" + s.FirstToken}, "doctor")
	if err := d.Wait(); err != nil || !d.HasWritten(line) || !d.HasWritten("ok    database  the server is ready") {
		s.t.Errorf("the doctor ended with %v and wrote\n%s", err, d.Output())
	}
}

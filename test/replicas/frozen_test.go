package replicas

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// writesWithin is how long a write may take while another replica is frozen inside its own. The lab measures it; in the
// gate it is enough that the write succeeds while the other one stays frozen.
const writesWithin = 10 * time.Second

// A replica that is frozen inside a write delays the other replica's writes by seconds. When it wakes up, its write
// is refused, and it serves again.
func TestReplicaFrozenInsideAWrite(t *testing.T) {
	t.Parallel()
	database, servers := pair(t)
	freezeInsideAWrite(t, database[1], servers)
}

// The same holds if pgbouncer in transaction mode is between the replicas and PostgreSQL.
func TestReplicaFrozenBehindAPooler(t *testing.T) {
	t.Parallel()
	database, behind := process.StartPooler(t)
	binary := process.Binary(t)
	first := process.Serve(t, binary, database)
	freezeInsideAWrite(t, behind, []*process.Server{first, process.Serve(t, binary, database)})
}

// freezeInsideAWrite freezes the first server inside a write, and writes at the second one.
func freezeInsideAWrite(t *testing.T, address string, servers []*process.Server) {
	t.Helper()
	frozen, other := servers[0], servers[1]
	admin := process.NewLoadBalancer(t, other).Client(t, frozen.FirstToken)
	ctx, stop := context.WithCancel(t.Context())
	impatient, err := client.New(frozen.URL, frozen.FirstToken, client.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	refused := load(ctx, t, impatient)

	pid := freeze(t, address, frozen)
	began := time.Now()
	if _, err := admin.CreateTask(t.Context(), fermata.NewTask{Title: "Written beside a frozen replica"}); err != nil {
		t.Errorf("a write beside a frozen replica: %v", err)
	}
	took := time.Since(began)
	t.Logf("a write beside the frozen session %d took %s", pid, took)
	if measured && took > writesWithin {
		t.Errorf("a write beside a frozen replica took %s, not %s at most", took, writesWithin)
	}

	frozen.Signal(syscall.SIGCONT)
	if code := fermata.CodeOf(patience.Receive(t, "the call is refused", refused)); code != fermata.CodeUnavailable {
		t.Errorf("the frozen write was refused with %q, not %q", code, fermata.CodeUnavailable)
	}
	stop()
	here := process.NewLoadBalancer(t, frozen).Client(t, frozen.FirstToken)
	if _, err := here.CreateTask(t.Context(), fermata.NewTask{Title: "Written after it woke up"}); err != nil {
		t.Errorf("a write at the replica that woke up: %v", err)
	}
	report, err := admin.VerifyAudit(t.Context())
	if err != nil || !report.OK {
		t.Errorf("the audit chain: %+v, %v", report, err)
	}
}

// load writes one task after the other until ctx ends. The channel gets the first error.
func load(ctx context.Context, t *testing.T, c *client.Client) <-chan error {
	t.Helper()
	failed := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, err := c.CreateTask(ctx, fermata.NewTask{Title: "Load"})
			if err == nil || ctx.Err() != nil {
				continue
			}
			select {
			case failed <- err:
			default:
			}
		}
	}()
	t.Cleanup(func() { <-done })
	return failed
}

// insideAWrite finds the session that holds the lock of the counter row and waits for its client. The second column is
// true if it has waited longer than a running client would take.
const insideAWrite = `SELECT a.pid, clock_timestamp() - greatest(a.state_change, a.query_start) > interval '200 ms'
	FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
	WHERE l.relation = 'workspaces'::regclass AND l.mode = 'RowShareLock' AND l.granted
	AND a.wait_event_type = 'Client' AND a.pid <> pg_backend_pid()`

// freeze freezes the server while it is inside a write, and returns the process id of its session in PostgreSQL.
func freeze(t *testing.T, address string, s *process.Server) (pid int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	patience.Await(t, "the replica is frozen inside a write", func() bool {
		s.Freeze()
		if pid = waitingWrite(t, conn); pid != 0 {
			return true
		}
		s.Signal(syscall.SIGCONT)
		return false
	})
	return pid
}

// waitingWrite returns the process id of the session that waits inside a write, or 0 if there is none.
func waitingWrite(t *testing.T, conn *pgx.Conn) (pid int) {
	t.Helper()
	for {
		var long bool
		err := conn.QueryRow(t.Context(), insideAWrite).Scan(&pid, &long)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return 0
		case err != nil:
			t.Fatal(err)
		case long:
			return pid
		}
	}
}

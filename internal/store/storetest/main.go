package storetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/test/patience"
)

// leakTimeout is how long goroutines may take to end after the last test, on a busy machine.
const leakTimeout = time.Minute

// Main runs the tests of a package and drops the schemas that they shared. It fails if goroutines remain after the
// tests.
func Main(m *testing.M) {
	schemaPool.enabled = true
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		// These tests wait for the disk more than they compute.
		_ = f.Value.Set("8")
	}
	code := m.Run()
	if err := schemaPool.drop(); err != nil {
		fmt.Fprintf(os.Stderr, "drop the schemas of the tests: %v\n", err)
		code = 1
	}
	if left := leakedGoroutines(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines outlived the tests:\n\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leakedGoroutines returns the stacks of the goroutines that do not end within leakTimeout.
func leakedGoroutines() string {
	end := time.NewTimer(leakTimeout)
	defer end.Stop()
	for {
		left := otherGoroutines()
		if left == "" {
			return ""
		}
		select {
		case <-end.C:
			return left
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// otherGoroutines returns the stacks of all goroutines except this one and the runtime's.
func otherGoroutines() string {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for i, stack := range strings.Split(string(buf), "\n\n") {
		if i > 0 && !strings.Contains(stack, "os/signal.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// schemaPool holds the schemas that the next test may take.
var schemaPool = pool{conns: map[string]*pgx.Conn{}}

// pool keeps schemas, and a connection for each. This connection empties the schema faster than a new one, which
// would first have to read the tables of the schema.
type pool struct {
	mu      sync.Mutex
	enabled bool
	free    []string
	conns   map[string]*pgx.Conn
}

func (p *pool) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return ""
	}
	schema := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return schema
}

// putBack empties a schema and puts it into the pool. It reports whether this succeeded.
func (p *pool) putBack(url, schema string) bool {
	if !p.enabled {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	p.mu.Lock()
	conn := p.conns[schema]
	delete(p.conns, schema)
	p.mu.Unlock()
	if conn == nil {
		var err error
		if conn, err = pgx.Connect(ctx, url); err != nil {
			return false
		}
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf(emptySchemaSQL, schema)); err != nil {
		_ = conn.Close(ctx)
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, schema)
	p.conns[schema] = conn
	return true
}

// drop drops all schemas of the pool and closes their connections.
func (p *pool) drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	var errs []error
	for schema, conn := range p.conns {
		_, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		errs = append(errs, err, conn.Close(ctx))
	}
	return errors.Join(errs...)
}

// emptySchemaSQL removes all rows that the migrations did not create. A new table must be added here; replicasEmptied checks
// this.
const emptySchemaSQL = `SET search_path TO %s;
	DELETE FROM member_groups; DELETE FROM browser_sessions; DELETE FROM sign_in_links; DELETE FROM sign_in_flows; DELETE FROM passkeys;
	DELETE FROM answer_link_generations; DELETE FROM held_answers; DELETE FROM snoozes; DELETE FROM saved_views; DELETE FROM read_marks;
	DELETE FROM named_tools; DELETE FROM trigger_cursors; DELETE FROM schedules; DELETE FROM steps; DELETE FROM workflow_runs;
	DELETE FROM workflow_definitions; DELETE FROM workflows; DELETE FROM workers; DELETE FROM worker_gaps; DELETE FROM task_labels; DELETE FROM question_assignees;
	DELETE FROM trimmed_ranges;
	DELETE FROM open_pages; DELETE FROM delivery_keys; DELETE FROM inbound; DELETE FROM devices; DELETE FROM preferences;
	DELETE FROM identities; DELETE FROM deliveries; DELETE FROM delivery_plans; DELETE FROM channel_state; DELETE FROM channels;
	DELETE FROM write_probe; DELETE FROM gate_rules; DELETE FROM grant_keys; DELETE FROM grants_used;
	DELETE FROM closings; DELETE FROM idempotency; DELETE FROM events; DELETE FROM messages; DELETE FROM questions; DELETE FROM run_log;
	DELETE FROM runs; DELETE FROM task_dependencies; DELETE FROM tasks; DELETE FROM tokens; DELETE FROM members;
	DELETE FROM projects WHERE name <> 'default' OR workspace_id <> 'default';
	DELETE FROM workspaces WHERE id <> 'default';
	UPDATE workspaces SET event_seq = 0, event_hash = '', policy = ''`

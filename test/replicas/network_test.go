package replicas

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// network carries connections between a server and PostgreSQL. It can stop carrying bytes while the connections stay
// open, so that neither end notices it.
type network struct {
	net.Listener
	to string

	mu sync.Mutex
	// open is closed while bytes are carried.
	open chan struct{}
	ends []net.Conn
}

// newNetwork returns a network to a host.
func newNetwork(t *testing.T, host string) *network {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{Listener: listener, to: host, open: make(chan struct{})}
	close(n.open)
	var busy sync.WaitGroup
	busy.Go(func() { n.serve(&busy) })
	t.Cleanup(func() {
		_ = n.Close()
		n.carry()
		n.closeAll()
		busy.Wait()
	})
	return n
}

// networkTo returns a network, and the flags with which a server reaches the database over it.
func networkTo(t *testing.T, database []string) (*network, []string) {
	t.Helper()
	u, err := url.Parse(database[1])
	if err != nil {
		t.Fatal(err)
	}
	n := newNetwork(t, u.Host)
	u.Host = n.Addr().String()
	over := slices.Clone(database)
	over[1] = u.String()
	return n, over
}

func (n *network) serve(busy *sync.WaitGroup) {
	for {
		from, err := n.Accept()
		if err != nil {
			return
		}
		to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", n.to)
		if err != nil {
			_ = from.Close()
			continue
		}
		n.mu.Lock()
		n.ends = append(n.ends, from, to)
		n.mu.Unlock()
		busy.Go(func() { n.pass(to, from) })
		busy.Go(func() { n.pass(from, to) })
	}
}

// pass carries bytes, and the end of them, while the network carries anything.
func (n *network) pass(to io.WriteCloser, from io.Reader) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		count, err := from.Read(buffer)
		n.mu.Lock()
		open := n.open
		n.mu.Unlock()
		<-open
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:count]); err != nil {
			return
		}
	}
}

// halt stops carrying bytes. carry continues.
func (n *network) halt() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = make(chan struct{})
}

func (n *network) carry() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.open:
	default:
		close(n.open)
	}
}

func (n *network) closeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, end := range n.ends {
		_ = end.Close()
	}
}

// The network between a replica and PostgreSQL stops carrying bytes while the replica is inside a write. The writes of
// this replica return within seconds, and those of the other replica succeed. When the network is back, both replicas
// write again.
func TestNetworkStandsStill(t *testing.T) {
	t.Parallel()
	t.Run("before PostgreSQL", func(t *testing.T) {
		t.Parallel()
		database := process.Postgres(t)
		between, over := networkTo(t, database)
		standStill(t, between, database[1], over, database)
	})
	t.Run("before a pooler", func(t *testing.T) {
		t.Parallel()
		database, behind := process.StartPooler(t)
		between, over := networkTo(t, database)
		standStill(t, between, behind, over, database)
	})
	t.Run("behind a pooler", func(t *testing.T) {
		t.Parallel()
		var between *network
		over, behind := process.StartPoolerOver(t, func(host string) string {
			between = newNetwork(t, host)
			return between.Addr().String()
		})
		standStill(t, between, behind, over, []string{"--database", behind, over[2], over[3]})
	})
}

// standStill halts the network between PostgreSQL and the first of two servers. address is PostgreSQL's own address.
func standStill(t *testing.T, between *network, address string, over, direct []string) {
	t.Helper()
	binary := process.Binary(t)
	cut := process.Serve(t, binary, over)
	other := process.Serve(t, binary, direct)
	here, beside := impatient(t, cut, cut.FirstToken), impatient(t, other, cut.FirstToken)
	ctx, stop := context.WithCancel(t.Context())
	refused := load(ctx, t, here)

	between.haltInsideAWrite(t, address)
	var writes sync.WaitGroup
	for name, c := range map[string]*client.Client{"at the replica that is cut off": here, "at the other replica": beside} {
		for range 3 {
			writes.Go(func() { timeWrite(t, name, c, c == beside) })
		}
	}
	writes.Wait()
	if code := fermata.CodeOf(patience.Receive(t, "the call is refused", refused)); code != fermata.CodeUnavailable {
		t.Errorf("the write that was under way was refused with %q, not %q", code, fermata.CodeUnavailable)
	}
	stop()
	if code := readiness(t, cut); code != http.StatusServiceUnavailable {
		t.Errorf("the replica that is cut off says %d at /readyz", code)
	}

	between.carry()
	patience.Await(t, "the replica writes again", func() bool {
		_, err := here.CreateTask(t.Context(), fermata.NewTask{Title: "Written after the network was back"})
		return err == nil
	})
	patience.Await(t, "the replica is ready again", func() bool { return readiness(t, cut) == http.StatusOK })
	report, err := beside.VerifyAudit(t.Context())
	if err != nil || !report.OK {
		t.Errorf("the audit chain: %+v, %v", report, err)
	}
}

// haltInsideAWrite halts the network while the server behind it is inside a write.
func (n *network) haltInsideAWrite(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	patience.Await(t, "the network is halted inside a write", func() bool {
		n.halt()
		if waitingWrite(t, conn) != 0 {
			return true
		}
		n.carry()
		return false
	})
}

func impatient(t *testing.T, s *process.Server, token string) *client.Client {
	t.Helper()
	c, err := client.New(s.URL, token, client.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// timeWrite creates a task. The call must return in time and, if succeeds is true, without an error.
func timeWrite(t *testing.T, name string, c *client.Client, succeeds bool) {
	began := time.Now()
	_, err := c.CreateTask(t.Context(), fermata.NewTask{Title: "Written beside a network that stands still"})
	took := time.Since(began)
	t.Logf("a write %s took %s: %v", name, took.Round(time.Millisecond), err)
	if measured && took > writesWithin {
		t.Errorf("a write %s took %s, not %s at most", name, took, writesWithin)
	}
	if code := fermata.CodeOf(err); err != nil && (succeeds || code != fermata.CodeUnavailable) {
		t.Errorf("a write %s: %v", name, err)
	}
}

// readiness returns the status of /readyz.
func readiness(t *testing.T, s *process.Server) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

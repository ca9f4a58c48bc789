package replicas

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// Lists show at once what another replica has written, whether the standby has it, lacks it or is down. The metrics say
// where they were read, and a standby that is down does not make the server unready.
func TestListsFromAStandby(t *testing.T) {
	t.Parallel()
	primary, standby := process.StartStandby(t)
	database := []string{"--database", primary.URL, "--master-key-file", filepath.Join(t.TempDir(), "master.key")}
	binary := process.Binary(t)
	writer := process.Serve(t, binary, database)
	token := writer.FirstToken
	reader := process.Serve(t, binary, database, "--database-read", standby.URL)
	write := process.NewLoadBalancer(t, writer).Client(t, token)
	read := process.NewLoadBalancer(t, reader).Client(t, token)
	made := 0
	check := func() {
		t.Helper()
		made++
		project := fmt.Sprintf("project-%d", made)
		if _, err := write.CreateTask(t.Context(), fermata.NewTask{Title: "x", Project: project}); err != nil {
			t.Fatal(err)
		}
		if tasks, _, err := read.Tasks(t.Context(), client.TaskQuery{Project: project}); err != nil || len(tasks) != 1 {
			t.Errorf("%d tasks are listed of 1: %v", len(tasks), err)
		}
	}
	awaitRead := func(outcome string) {
		t.Helper()
		before := standbyReads(t, reader, token, outcome)
		patience.Await(t, "a read with the outcome "+outcome, func() bool {
			check()
			return standbyReads(t, reader, token, outcome) > before
		})
	}
	awaitRead("done")
	standby.Run("SELECT pg_wal_replay_pause()")
	awaitRead("behind")
	standby.Run("SELECT pg_wal_replay_resume()")
	awaitRead("done")
	standby.Kill()
	awaitRead("unavailable")
	if code, text := get(t, reader.URL+"/readyz", ""); code != http.StatusOK {
		t.Errorf("the server is not ready: %d %s", code, text)
	}
	if n := strings.Count(reader.Output(), "the standby cannot be used"); n != 1 {
		t.Errorf("the log says %d times that the standby cannot be used:\n%s", n, reader.Output())
	}
}

// standbyReads returns the number of reads with an outcome, from the metrics of a server.
func standbyReads(t *testing.T, s *process.Server, token, outcome string) int {
	t.Helper()
	_, metrics := get(t, s.URL+"/metrics", token)
	for line := range strings.Lines(metrics) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), `fermata_standby_reads_total{outcome="`+outcome+`"} `); found {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("the metrics have no outcome %s", outcome)
	return 0
}

// get returns the status and the body of a page.
func get(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

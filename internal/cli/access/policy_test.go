package access_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// policyServer is a server that stores a policy.
type policyServer struct {
	mu     sync.Mutex
	policy fermata.Policy
	puts   int
	url    string
}

func newPolicyServer(t *testing.T) *policyServer {
	t.Helper()
	k := &policyServer{policy: fermata.DefaultPolicy()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if r.Method == http.MethodPut {
			k.puts++
			k.policy = fermata.Policy{}
			if err := json.NewDecoder(r.Body).Decode(&k.policy); err != nil {
				t.Error(err)
			}
		}
		_ = json.NewEncoder(w).Encode(k.policy)
	}))
	t.Cleanup(server.Close)
	k.url = server.URL
	return k
}

// everySetting holds a value for every field of a policy.
var everySetting = map[string]string{
	"min_timeout": "1m", "max_timeout": "2d", "allow_never": "no", "allow_longer": "no", "allow_shorter": "yes",
	"default_timeout.approval": "2h", "resumed_timeout.blocking": "3d", "reminders": "2h,1d", "remind_every": "2d",
	"auto_confidence": "90", "ask_confidence": "0", "gate_default": "deny", "undo_seconds": "0",
	"least_assurance.critical": "session", "least_risk.approval": "low", "project_risk.shop": "high", "link_answers": "off", "admin_assurance": "session",
	"keep_tasks": "365d", "keep_logs": "30d", "keep_deliveries": "90d",
}

func TestPolicySetSetsEveryField(t *testing.T) {
	t.Parallel()
	k := newPolicyServer(t)
	args := []string{"--url", k.url, "policy", "set"}
	for name, value := range everySetting {
		args = append(args, name+"="+value)
	}
	code, out, talk := clitest.Run(t, "", append(args, "--dry-run")...)
	if code != session.ExitOK || k.puts != 0 || !strings.Contains(out, "min_timeout: 5m -> 1m\n") || !strings.Contains(out, "undo_seconds: 5 (default) -> 0\n") {
		t.Errorf("dry run: exit code %d, %d writes: %s%s", code, k.puts, out, talk)
	}
	if code, _, talk = clitest.Run(t, "", args...); code != session.ExitOK || k.puts != 1 {
		t.Fatalf("exit code %d, %d writes: %s", code, k.puts, talk)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[fermata.Policy]()) {
		now, usual := reflect.ValueOf(k.policy).FieldByIndex(field.Index), reflect.ValueOf(fermata.DefaultPolicy()).FieldByIndex(field.Index)
		if reflect.DeepEqual(now.Interface(), usual.Interface()) {
			t.Errorf("fermata policy set did not change %s", field.Name)
		}
	}
	code, out, _ = clitest.Run(t, "", "--url", k.url, "policy", "show")
	for name, value := range everySetting {
		if code != session.ExitOK || !strings.Contains(out, name+"\t"+value+"\tset\n") && !strings.Contains(out, name+"\t"+map[string]string{"yes": "true", "no": "false"}[value]+"\tset\n") {
			t.Errorf("%s=%s is not in\n%s", name, value, out)
		}
	}
	// A policy that is written to a file and read again is the same.
	_, doc, _ := clitest.Run(t, "", "--url", k.url, "policy", "show", "--json")
	want := k.policy
	k.policy = fermata.DefaultPolicy()
	if code, _, talk := clitest.Run(t, doc, "--url", k.url, "policy", "set", "--file", "-"); code != session.ExitOK || cmp.Diff(want, k.policy) != "" {
		t.Errorf("exit code %d: %s\n%s", code, talk, cmp.Diff(want, k.policy))
	}
	// An empty value restores the default.
	args = []string{"--url", k.url, "policy", "set"}
	for name := range everySetting {
		args = append(args, name+"=")
	}
	if code, _, talk := clitest.Run(t, "", args...); code != session.ExitOK {
		t.Errorf("exit code %d: %s", code, talk)
	}
	code, out, _ = clitest.Run(t, "", "--url", k.url, "policy", "show")
	if code != session.ExitOK || !strings.Contains(out, "default_timeout.approval\t15m\tdefault\n") || !strings.Contains(out, "reminders\t1h,1d\tdefault\n") || !strings.Contains(out, "allow_never\ttrue\tset\n") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestPolicySetCountsWhatItChanged(t *testing.T) {
	t.Parallel()
	k := newPolicyServer(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"min_timeout=1m"}, "changed the policy: 1 setting ("},
		{[]string{"min_timeout=2m", "allow_never=no"}, "changed the policy: 2 settings ("},
	} {
		code, _, talk := clitest.Run(t, "", append([]string{"--url", k.url, "policy", "set"}, tt.args...)...)
		if code != session.ExitOK || !strings.Contains(talk, tt.want) {
			t.Errorf("%s: exit code %d: %s", tt.args, code, talk)
		}
	}
}

func TestPolicySetKeepsWhatIsNotNamed(t *testing.T) {
	t.Parallel()
	k := newPolicyServer(t)
	k.policy.DefaultTimeout = map[fermata.QuestionType]fermata.Timeout{fermata.Blocking: "1h"}
	if code, out, talk := clitest.Run(t, "", "--url", k.url, "policy", "set", "default_timeout.approval=2h", "reminders=none"); code != session.ExitOK || len(k.policy.DefaultTimeout) != 2 || k.policy.Reminders == nil {
		t.Errorf("exit code %d: %s%s%+v", code, out, talk, k.policy)
	}
	if code, out, talk := clitest.Run(t, "", "--url", k.url, "policy", "set", "default_timeout.approval=2h"); code != session.ExitOK || out != "" || k.puts != 1 || !strings.Contains(talk, "the policy is unchanged") {
		t.Errorf("the same again: exit code %d, %d writes: %s%s", code, k.puts, out, talk)
	}
}

func TestPolicySetRefuses(t *testing.T) {
	t.Parallel()
	k := newPolicyServer(t)
	for setting, says := range map[string]string{
		"min_timout=1m": `no setting "min_timout"`, "Min_timeout=1m": `no setting "Min_timeout"`, "min_timeout.blocking=1m": "no setting", "min_timeout": "names no value",
		"default_timeout=1h": "a value for each of", "default_timeout.urgent=1h": "names no type of question", "min_timeout=soon": "min_timeout", "allow_never=perhaps": "neither yes nor no",
		"auto_confidence=high": "no whole number", "auto_confidence=101": "auto_confidence", "reminders=1h,1h": "stands twice", "min_timeout=3d": "above max_timeout",
	} {
		if code, _, talk := clitest.Run(t, "", "--url", k.url, "policy", "set", setting); code != session.ExitUsage || !strings.Contains(talk, says) {
			t.Errorf("%s: exit code %d: %s", setting, code, talk)
		}
	}
	for doc, says := range map[string]string{`{"min_timout":"1m"}`: "min_timout: is no known field", `{"min_timeout":"1m","min_timeout":"2m"}`: "stands twice", `{"max_timeout":"1m"}`: "above max_timeout"} {
		if code, _, talk := clitest.Run(t, doc, "--url", k.url, "policy", "set", "--file", "-"); code != session.ExitUsage || !strings.Contains(talk, says) {
			t.Errorf("%s: exit code %d: %s", doc, code, talk)
		}
	}
	for _, args := range [][]string{{}, {"min_timeout=1m", "--file", "x.json"}} {
		if code, _, talk := clitest.Run(t, "", append([]string{"--url", k.url, "policy", "set"}, args...)...); code != session.ExitUsage || !strings.Contains(talk, "either settings or --file") {
			t.Errorf("%q: exit code %d: %s", args, code, talk)
		}
	}
	if k.puts != 0 {
		t.Errorf("%d writes", k.puts)
	}
}

// A person who lets the server remove things is told before, also in a dry run. Any other change says nothing of it.
func TestARemovalIsSaidBefore(t *testing.T) {
	t.Parallel()
	k := newPolicyServer(t)
	const warning = "what is older is removed for good"
	for _, c := range []struct {
		args   []string
		warned bool
	}{
		{[]string{"keep_tasks=90d", "--dry-run"}, true}, {[]string{"keep_tasks=90d"}, true}, {[]string{"min_timeout=1m"}, false}, {[]string{"keep_tasks="}, false},
	} {
		code, _, talk := clitest.Run(t, "", append([]string{"--url", k.url, "policy", "set"}, c.args...)...)
		if code != session.ExitOK || strings.Contains(talk, warning) != c.warned {
			t.Errorf("%v: exit code %d: %s", c.args, code, talk)
		}
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type doctorCommand struct{}

func (doctorCommand) Help() string {
	return `Checks the server, the token, the clock, the database, the record of events, waiting tasks, git, and which agent programs are installed in which version. The exit code is 1 when something is wrong.

Examples:

    fermata doctor
    fermata doctor --json`
}

// finding is what one check came to.
type finding struct {
	Check string `json:"check"`
	// Status is ok, warn or fail.
	Status string `json:"status"`
	Detail string `json:"detail"`
}

// longestSkew is how far two clocks may be apart before deadlines look odd.
const longestSkew = 5 * time.Second

func (c *doctorCommand) Run(ctx context.Context, s *session) error {
	findings := append(c.examine(ctx, s), checkAgents(ctx)...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var failed bool
	for _, f := range findings {
		failed = failed || f.Status == "fail"
		if !s.JSON {
			s.data().finding(f)
		}
	}
	if s.JSON {
		if err := s.json(findings); err != nil {
			return err
		}
	}
	if failed {
		return outcome(exitFailed)
	}
	return nil
}

func (p printer) finding(f finding) {
	status := map[string]string{"ok": p.green("ok  "), "warn": p.yellow("warn"), "fail": p.red("FAIL")}[f.Status]
	p.line("%s  %-9s %s", status, f.Check, oneLine(f.Detail))
}

func (c *doctorCommand) examine(ctx context.Context, s *session) []finding {
	server, err := s.server()
	switch {
	case fermata.CodeOf(err) == fermata.CodeUnauthenticated:
		return []finding{s.failure("token", err), checkGit(ctx)}
	case err != nil:
		return []finding{s.failure("server", err), checkGit(ctx)}
	}
	before := s.now()
	me, err := server.Whoami(ctx)
	switch {
	case fermata.CodeOf(err) == fermata.CodeUnauthenticated:
		return []finding{{"server", "ok", s.address}, s.failure("token", err), checkDatabase(ctx, s, server), checkGit(ctx)}
	case err != nil:
		return []finding{s.failure("server", err), checkGit(ctx)}
	}
	return []finding{
		{"server", "ok", fmt.Sprintf("%s, version %s, workspace %s", s.address, me.Version, me.Workspace)},
		checkToken(me),
		checkClock(me.ServerTime, before, s.now()),
		checkDatabase(ctx, s, server),
		checkAudit(ctx, s, server, me),
		checkWaiting(ctx, s),
		checkGit(ctx),
	}
}

// failure is a check that failed: why, and what to do about it.
func (s *session) failure(check string, err error) finding {
	detail := err.Error()
	if e, ok := errors.AsType[*fermata.Error](err); ok && s.hint(e) != "" {
		detail += "; " + s.hint(e)
	}
	return finding{check, "fail", detail}
}

func checkToken(me *client.Whoami) finding {
	var scopes []string
	for _, scope := range me.Scopes {
		scopes = append(scopes, string(scope))
	}
	detail := fmt.Sprintf("%s %s may %s", me.Kind, me.Name, strings.Join(scopes, ", "))
	if len(scopes) == 0 {
		return finding{"token", "warn", fmt.Sprintf("%s %s has no scope", me.Kind, me.Name)}
	}
	return finding{"token", "ok", detail}
}

// checkClock compares the server's clock with the middle of the call.
func checkClock(server, before, after time.Time) finding {
	if server.IsZero() {
		return finding{"clock", "warn", "the server does not tell its time"}
	}
	middle := before.Add(after.Sub(before) / 2)
	skew := server.Sub(middle)
	detail := fmt.Sprintf("%s apart from the server's", skew.Abs().Round(time.Millisecond))
	if skew.Abs() > longestSkew {
		return finding{"clock", "warn", detail + "; deadlines go by the server's"}
	}
	return finding{"clock", "ok", detail}
}

func checkDatabase(ctx context.Context, s *session, server *client.Client) finding {
	if err := server.Ready(ctx); err != nil {
		return s.failure("database", err)
	}
	return finding{"database", "ok", "the server is ready"}
}

func checkAudit(ctx context.Context, s *session, server *client.Client, me *client.Whoami) finding {
	report, err := server.VerifyAudit(ctx)
	switch {
	case fermata.CodeOf(err) == fermata.CodeForbidden:
		return finding{"audit", "warn", fmt.Sprintf("%s may not verify it", me.Name)}
	case err != nil:
		return s.failure("audit", err)
	case !report.OK:
		return finding{"audit", "fail", report.Problem}
	}
	return finding{"audit", "ok", fmt.Sprintf("%d events, the chain is whole", report.Events)}
}

// checkWaiting looks for tasks that wait for a person with nothing that a
// person could answer.
func checkWaiting(ctx context.Context, s *session) finding {
	list, err := s.tasks(ctx, client.TaskQuery{NeedsPerson: true}, 1000)
	if err != nil {
		return s.failure("waiting", err)
	}
	var stuck []string
	for _, t := range list {
		if t.State.Suspended() && t.PendingQuestionID == "" && t.PendingQuestion == nil {
			stuck = append(stuck, t.ID)
		}
	}
	if len(stuck) > 0 {
		return finding{"waiting", "fail", "without a question to answer: " + strings.Join(stuck, ", ") + "; fermata resume lets them go on"}
	}
	if len(list) == 1 {
		return finding{"waiting", "ok", "1 task waits for a person"}
	}
	return finding{"waiting", "ok", fmt.Sprintf("%d tasks wait for a person", len(list))}
}

func checkGit(ctx context.Context) finding {
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return finding{"git", "warn", "not found; workers need it for working copies"}
	}
	return finding{"git", "ok", strings.TrimSpace(string(out))}
}

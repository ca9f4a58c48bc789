package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/process"
)

type doctorCommand struct {
	Agents bool `help:"Try each installed agent program, too: a stop, a resume, a deferred call, and a rule that denies everything. Takes seconds a program, never more than three minutes."`
}

func (doctorCommand) Help() string {
	return `Checks the server, the token, the clocks, the database, the record of events, waiting tasks, workers, git, the sandbox for agents, and which agent programs are installed in which version. The exit code is 1 when something is wrong.

With --agents, each installed agent program is run: it asks and is stopped, is resumed with the answer, if it is Claude Code has a call put off, and is denied everything. It talks to a model that follows a script, on this machine, with a server, a home and a configuration that are thrown away: yours are neither read nor changed, nothing is sent anywhere, and no model is paid.

Examples:

    fermata doctor
    fermata doctor --agents
    fermata doctor --json`
}

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	// Step is the step of the agent check: stop, resume, defer or deny.
	Step string `json:"step,omitempty"`
	// Status is ok, warn, fail or skip.
	Status string `json:"status"`
	Detail string `json:"detail"`
	// Hint is what to do about the finding. Log is the end of the agent program's output.
	Hint string `json:"hint,omitempty"`
	Log  string `json:"log,omitempty"`
}

// maxSkew is the largest difference of two clocks at which deadlines still look right.
const maxSkew = 5 * time.Second

func (c *doctorCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	d := &diagnosis{s: s}
	d.add(c.examine(ctx, s)...)
	d.add(checkSandbox(ctx))
	d.add(checkAgentVersions(ctx)...)
	if c.Agents && ctx.Err() == nil {
		if err := d.runAgentChecks(ctx, hooks); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.finish()
}

// diagnosis collects findings. For people it prints each finding immediately.
type diagnosis struct {
	s        *session.Session
	findings []finding
	failed   bool
}

func (d *diagnosis) add(findings ...finding) {
	for _, f := range findings {
		d.findings = append(d.findings, f)
		d.failed = d.failed || f.Status == "fail"
		if !d.s.JSON {
			printFinding(d.s.Stdout(), f)
		}
	}
}

func (d *diagnosis) finish() error {
	if d.s.JSON {
		if err := d.s.WriteJSON(d.findings); err != nil {
			return err
		}
	}
	if d.failed {
		return session.ExitError(session.ExitFailed)
	}
	return nil
}

func printFinding(p terminal.Printer, f finding) {
	status := map[string]string{"ok": p.Green("ok  "), "warn": p.Yellow("warn"), "fail": p.Red("FAIL"), "skip": p.Dim("skip")}[f.Status]
	detail := terminal.OneLine(f.Detail)
	if f.Step != "" {
		detail = f.Step + ": " + detail
	}
	p.Line("%s  %-9s %s", status, f.Check, detail)
	if f.Hint != "" {
		p.Line("                %s", terminal.OneLine(f.Hint))
	}
	p.PrintQuoted("                ", f.Log)
}

func (c *doctorCommand) examine(ctx context.Context, s *session.Session) []finding {
	server, err := s.Server()
	switch {
	case fermata.CodeOf(err) == fermata.CodeUnauthenticated:
		return []finding{failure(s, "token", err), checkGit(ctx)}
	case err != nil:
		return []finding{failure(s, "server", err), checkGit(ctx)}
	}
	before := s.Now()
	me, err := server.Whoami(ctx)
	switch {
	case fermata.CodeOf(err) == fermata.CodeUnauthenticated:
		found := []finding{{Check: "server", Status: "ok", Detail: s.Address}, failure(s, "token", err)}
		return append(append(found, checkReadiness(ctx, s, server)...), checkGit(ctx))
	case err != nil:
		return append(diagnoseServerError(ctx, s, server, err), checkGit(ctx))
	}
	found := []finding{
		{Check: "server", Status: "ok", Detail: fmt.Sprintf("%s, version %s, workspace %s", s.Address, me.Version, me.Workspace)},
		checkToken(me),
		checkClock(me.ServerTime, before, s.Now()),
	}
	found = append(found, checkReadiness(ctx, s, server)...)
	found = append(found, checkAudit(ctx, s, server, me), checkWaiting(ctx, s))
	found = append(found, checkWorkers(ctx, s, server)...)
	return append(append(found, checkChannels(ctx, s, server)...), checkGit(ctx))
}

// failure returns the finding of a failed check, with the error and its hint.
func failure(s *session.Session, check string, err error) finding {
	detail := err.Error()
	if e, ok := errors.AsType[*fermata.Error](err); ok && s.Hint(e) != "" {
		detail += "; " + s.Hint(e)
	}
	return finding{Check: check, Status: "fail", Detail: detail}
}

func checkToken(me *client.Whoami) finding {
	var scopes []string
	for _, scope := range me.Scopes {
		scopes = append(scopes, string(scope))
	}
	detail := fmt.Sprintf("%s %s may %s", me.Kind, me.Name, strings.Join(scopes, ", "))
	if len(scopes) == 0 {
		return finding{Check: "token", Status: "warn", Detail: fmt.Sprintf("%s %s has no scope", me.Kind, me.Name)}
	}
	return finding{Check: "token", Status: "ok", Detail: detail}
}

// checkClock compares the server's clock with the time in the middle of the call.
func checkClock(server, before, after time.Time) finding {
	if server.IsZero() {
		return finding{Check: "clock", Status: "warn", Detail: "the server does not tell its time"}
	}
	middle := before.Add(after.Sub(before) / 2)
	skew := server.Sub(middle)
	detail := fmt.Sprintf("%s apart from the server's", skew.Abs().Round(time.Millisecond))
	if skew.Abs() > maxSkew {
		return finding{Check: "clock", Status: "warn", Detail: detail + "; deadlines use the server's"}
	}
	return finding{Check: "clock", Status: "ok", Detail: detail}
}

// diagnoseServerError distinguishes a server that is down from a server whose database fails.
func diagnoseServerError(ctx context.Context, s *session.Session, server *client.Client, err error) []finding {
	found := []finding{failure(s, "server", err)}
	if fermata.CodeOf(err) == fermata.CodeUnavailable {
		found = append(found, checkReadiness(ctx, s, server)...)
	}
	return found
}

// checkReadiness reads from the server whether its database is ready, and how exact the database's clock is.
func checkReadiness(ctx context.Context, s *session.Session, server *client.Client) []finding {
	ready, err := server.Ready(ctx)
	if err != nil {
		return []finding{failure(s, "database", err), {Check: "db-clock", Status: "skip", Detail: "the server is not ready"}}
	}
	return []finding{checkDatabase(ready), checkDatabaseClock(ready.Clock)}
}

// checkDatabase reports the server's warnings, except for those about the clock.
func checkDatabase(ready *fermata.Readiness) finding {
	warnings := slices.DeleteFunc(slices.Clone(ready.Warnings), func(text string) bool {
		return ready.Clock != nil && slices.Contains(ready.Clock.Warnings, text)
	})
	if len(warnings) > 0 {
		return finding{Check: "database", Status: "warn", Detail: strings.Join(warnings, "; ")}
	}
	return finding{Check: "database", Status: "ok", Detail: "the server is ready"}
}

// checkDatabaseClock reports whether the database's clock, which decides deadlines and leases, can be trusted.
func checkDatabaseClock(clock *fermata.ClockReadiness) finding {
	switch {
	case clock == nil:
		return finding{Check: "db-clock", Status: "skip", Detail: "the server does not report the database's clock"}
	case len(clock.Warnings) > 0:
		return finding{Check: "db-clock", Status: "warn", Detail: strings.Join(clock.Warnings, "; ")}
	}
	skew := time.Duration(clock.SkewSeconds * float64(time.Second)).Abs().Round(time.Millisecond)
	return finding{Check: "db-clock", Status: "ok", Detail: fmt.Sprintf("it runs evenly, %s apart from the clock of the server's machine", skew)}
}

func checkAudit(ctx context.Context, s *session.Session, server *client.Client, me *client.Whoami) finding {
	report, err := server.VerifyAuditEnd(ctx)
	switch {
	case fermata.CodeOf(err) == fermata.CodeForbidden:
		return finding{Check: "audit", Status: "warn", Detail: fmt.Sprintf("%s may not verify it", me.Name)}
	case err != nil:
		return failure(s, "audit", err)
	case !report.OK:
		return finding{Check: "audit", Status: "fail", Detail: report.Problem}
	}
	if report.SignedTo > 0 {
		return finding{Check: "audit", Status: "ok", Detail: fmt.Sprintf("the chain is whole since event %d, which is signed; all of it: fermata audit verify", report.SignedTo)}
	}
	return finding{Check: "audit", Status: "ok", Detail: terminal.CountText(report.Events, "event") + ", the chain is whole"}
}

// checkWaiting looks for tasks that wait for a person, but have no question that a person could answer.
func checkWaiting(ctx context.Context, s *session.Session) finding {
	list, _, err := s.Tasks(ctx, client.TaskQuery{NeedsPerson: true}, 1000)
	if err != nil {
		return failure(s, "waiting", err)
	}
	var stuck []string
	for _, t := range list {
		if t.State.IsSuspended() && t.PendingQuestionID == "" && t.PendingQuestion == nil {
			stuck = append(stuck, t.ID)
		}
	}
	if len(stuck) > 0 {
		return finding{Check: "waiting", Status: "fail", Detail: "without a question to answer: " + strings.Join(stuck, ", ") + "; fermata resume lets them go on"}
	}
	undecidable, err := undecidableQuestions(ctx, s, list)
	if err != nil {
		return failure(s, "waiting", err)
	}
	if len(undecidable) > 0 {
		return finding{Check: "waiting", Status: "fail", Detail: "questions that nobody may answer: " + strings.Join(undecidable, ", ") + "; an operator gives one to somebody who may: fermata assign ID NAME"}
	}
	if len(list) == 1 {
		return finding{Check: "waiting", Status: "ok", Detail: "1 task waits for a person"}
	}
	return finding{Check: "waiting", Status: "ok", Detail: fmt.Sprintf("%d tasks wait for a person", len(list))}
}

// maxDeciderChecks is the largest number of questions that are checked one by one.
const maxDeciderChecks = 200

// undecidableQuestions returns the questions of the tasks that no present member may answer. It checks only questions
// that name assignees or need several approvals; other questions cannot be affected.
func undecidableQuestions(ctx context.Context, s *session.Session, tasks []*fermata.Task) ([]string, error) {
	var found []string
	checked := 0
	for _, t := range tasks {
		q := t.PendingQuestion
		if q == nil || len(q.Assignees) == 0 && q.Approvals == nil {
			continue
		}
		if checked++; checked > maxDeciderChecks {
			break
		}
		deciders, err := s.Client.Deciders(ctx, q.ID)
		switch {
		case fermata.CodeOf(err) == fermata.CodeForbidden || fermata.CodeOf(err) == fermata.CodeNotFound:
			// This token may not see the question, or it is closed or gone.
		case err != nil:
			return nil, err
		case !slices.ContainsFunc(deciders.Items, func(d fermata.Decider) bool { return d.May }):
			found = append(found, q.ID)
		}
	}
	return found, nil
}

// checkSandbox checks whether `fermata worker --isolate` has what it needs.
func checkSandbox(ctx context.Context) finding {
	program, err := process.FindSandbox(ctx)
	if err != nil {
		return finding{Check: "sandbox", Status: "warn", Detail: err.Error() + "; without it fermata worker --isolate is refused"}
	}
	return finding{Check: "sandbox", Status: "ok", Detail: "fermata worker --isolate can use " + program}
}

func checkGit(ctx context.Context) finding {
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return finding{Check: "git", Status: "warn", Detail: "not found; workers need it for working copies"}
	}
	return finding{Check: "git", Status: "ok", Detail: strings.TrimSpace(string(out))}
}

package claude

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Settings of a session that resuming it needs, or that show how it ran.
const (
	modeSetting     = "permission_mode"
	argsSetting     = "args"
	deferredSetting = "deferred_call"
)

// Listener is a desk that wants to know what the agent was told.
type Listener interface {
	Heard(rc *fermata.ResumeContext)
}

// conversation is one run: as many turns as it takes.
type conversation struct {
	opts   Options
	claim  *fermata.Claim
	desk   Desk
	papers *papers
	// session is the one to go on with; empty begins one.
	session string
	// deferred is the call with which the session's last turn ended.
	deferred string
	// news is what reached the task and the agent was not told.
	news []*fermata.ResumeContext
}

func newConversation(o Options, claim *fermata.Claim, desk Desk, p *papers) *conversation {
	c := &conversation{opts: o, claim: claim, desk: desk, papers: p}
	rc := claim.Context
	if rc == nil || rc.Session == nil || rc.Session.Runner != "" && rc.Session.Runner != Name {
		return c
	}
	c.session, c.deferred = rc.Session.ID, rc.Session.Settings[deferredSetting]
	for name, is := range c.settings() {
		if was := rc.Session.Settings[name]; was != "" && was != is && name != deferredSetting {
			c.logf("the session began with the %s %q and goes on with %q.", name, was, is)
		}
	}
	return c
}

// opening is the first thing that is said. A session whose call was deferred,
// and answered, is told nothing: the answer comes as what the call returns.
func (c *conversation) opening(ctx context.Context) say {
	rc := c.claim.Context
	switch {
	case c.session == "":
		return say{prompt: brief(ctx, c.claim, c.desk, false)}
	case c.deferred != "" && rc.Pending == nil && len(rc.Messages) == 0 && len(rc.Questions) == 1:
		return say{}
	default:
		return say{prompt: news(rc), deferred: c.deferred}
	}
}

// hold takes turns until the run has come to something.
func (c *conversation) hold(ctx context.Context) (fermata.Finish, error) {
	next := c.opening(ctx)
	for {
		t, err := c.turn(ctx, next)
		if ctx.Err() != nil {
			return fermata.Finish{}, context.Cause(ctx)
		}
		if err != nil {
			return failed("Claude Code could not be started: %v", err), nil
		}
		c.news = append(c.news, t.news...)
		switch {
		case t.began() && len(c.news) > 0:
			c.logf("a person interrupts: the agent is told.")
			next = say{prompt: c.tell(), deferred: c.deferred}
		case t.began() || c.session == "":
			return c.finish(t), nil
		case next.prompt == "":
			c.logf("the call that was put off is not there any more: the agent is told the answer.")
			next = say{prompt: news(c.claim.Context)}
		default:
			c.logf("the session %s cannot be resumed: a new one begins, and is told what was asked and answered.", c.session)
			c.session, c.deferred = "", ""
			next = say{prompt: brief(ctx, c.claim, c.desk, true) + c.tell()}
		}
	}
}

// tell makes a prompt of what reached the task. It counts as heard with it.
func (c *conversation) tell() string {
	texts := make([]string, 0, len(c.news))
	for _, rc := range c.news {
		texts = append(texts, news(rc))
		if l, ok := c.desk.(Listener); ok {
			l.Heard(rc)
		}
	}
	c.news = nil
	return strings.Join(texts, "\n")
}

// finish is what the last turn came to. A turn that ended well says nothing of
// the task's end: the worker knows whether a question is still open.
func (c *conversation) finish(t *turn) fermata.Finish {
	fin := fermata.Finish{Summary: clip(strings.TrimSpace(plain(t.last.Result)), maxSummary)}
	switch {
	case t.last.paused() && t.question != "":
		fin.Result, fin.Summary = fermata.ResultNeedsInput, clip(strings.TrimSpace(plain(t.said)), maxSummary)
	case t.last.paused():
		fin = failed("Claude Code was stopped by a hook that is not Fermata's (%s), so nobody knows what it waits for.", t.last.TerminalReason)
	case t.last.IsError || !t.state.Success() || !t.ended:
		fin = failed("Claude Code ended with %s.\n%s", t.state, t.words())
	}
	if t.session != "" || c.session != "" {
		fin.Session = c.kept()
	}
	return fin
}

// kept is the session with what resuming it needs.
func (c *conversation) kept() *fermata.Session {
	return &fermata.Session{ID: c.session, Mode: c.opts.PermissionMode, Settings: c.settings()}
}

func (c *conversation) settings() map[string]string {
	s := map[string]string{modeSetting: c.opts.PermissionMode, argsSetting: strings.Join(c.opts.ExtraArgs, " "), deferredSetting: c.deferred}
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// keep records the session as soon as the program tells it.
func (c *conversation) keep(id string) {
	c.session = id
	c.desk.KeepSession(*c.kept())
}

func (c *conversation) logf(format string, args ...any) {
	fmt.Fprintf(c.desk.Log(), "fermata: "+format+"\n", args...)
}

// drain returns what is waiting in the inbox.
func drain(inbox <-chan *fermata.ResumeContext) []*fermata.ResumeContext {
	var all []*fermata.ResumeContext
	for {
		select {
		case rc := <-inbox:
			all = append(all, rc)
		default:
			return slices.Clip(all)
		}
	}
}

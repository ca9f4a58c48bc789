package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// protocolVersion is the only version of the protocol that this package supports.
const protocolVersion = acp.ProtocolVersionNumber

// openSession connects, and then loads the session of the last run or begins a new one. It returns the first prompt.
func (c *conversation) openSession(ctx context.Context) (string, error) {
	hello, err := acp.SendRequest[greeting](c.conn, ctx, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: protocolVersion, ClientInfo: &acp.Implementation{Name: "fermata", Version: "1"},
		ClientCapabilities: acp.ClientCapabilities{Elicitation: &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}},
	})
	if err != nil {
		return "", err
	}
	if hello.ProtocolVersion != protocolVersion {
		return "", fmt.Errorf("it speaks version %d of the Agent Client Protocol, and this worker version %d", hello.ProtocolVersion, protocolVersion)
	}
	if hello.Agent.knownProgram() == "" && !c.r.opts.AllowUnknown {
		return "", fmt.Errorf("it calls itself %q, and no program of this name is known to ask before it acts, so no rule of gates would hold it: "+
			"run the worker with --isolate, or with --allow-unknown-agent if you trust the program (docs/reference/worker.md#what-the-gate-sees)", hello.Agent.Name)
	}
	// When a turn of Gemini CLI is cancelled while its model thinks, the turn is rolled back, also in the file of the
	// session. A session without any turn is deleted at the next start.
	c.forgetsCancelled = hello.Agent.Name == geminiName
	c.session.setProgram(hello.Agent.knownProgram())
	c.loadDecisions(ctx)
	last := c.lastSession()
	if last == nil {
		return c.beginSession(ctx, hello, false)
	}
	if err := c.loadSession(ctx, hello, last); err != nil {
		if c.isDisconnected() || ctx.Err() != nil {
			return "", err
		}
		c.logf("the session %s cannot be loaded (%s): a new one begins, and is told what was asked and answered.", last.ID, errorText(err))
		return c.beginSession(ctx, hello, true)
	}
	return c.prompts.Resume(c.claim.Context), nil
}

// greeting is the part of an agent's introduction that is read. The library's own type refuses agents that leave out
// fields which are not needed here.
type greeting struct {
	ProtocolVersion int       `json:"protocolVersion"`
	Agent           agentInfo `json:"agentInfo"`
	Capabilities    struct {
		LoadSession bool `json:"loadSession"`
	} `json:"agentCapabilities"`
	AuthMethods []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"authMethods"`
}

// beginSession begins a session.
func (c *conversation) beginSession(ctx context.Context, hello greeting, lost bool) (string, error) {
	res, err := acp.SendRequest[struct {
		SessionID string `json:"sessionId"`
		modes
	}](c.conn, ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: c.handle.Dir(), McpServers: c.servers(), Meta: sessionMeta()})
	if err != nil {
		return "", hello.explain(err)
	}
	if res.SessionID == "" {
		return "", errors.New("it began a session without an id")
	}
	c.beganAt = time.Now().UTC().Format(time.RFC3339)
	c.keepSession(res.SessionID)
	if err := c.setAskingMode(ctx, res.modes); err != nil {
		return "", err
	}
	return c.prompts.Begin(ctx, lost), nil
}

// authRequired is the code of the error with which an agent asks for a login.
const authRequired = -32000

// explain adds instructions for a login to the error of an agent that needs one.
func (g greeting) explain(err error) error {
	var e *acp.RequestError
	if !errors.As(err, &e) || e.Code != authRequired {
		return err
	}
	names := make([]string, 0, len(g.AuthMethods))
	for _, m := range g.AuthMethods {
		names = append(names, m.Name)
	}
	return fmt.Errorf("it wants a login first (%s): log in once on the worker's machine, or pass on its key with --pass-env: %s", strings.Join(names, ", "), e.Message)
}

// errCannotLoad means that the agent has no support for loading sessions.
var errCannotLoad = errors.New("the agent cannot load sessions")

// loadSession continues a session. The updates that the agent repeats from earlier runs are ignored.
func (c *conversation) loadSession(ctx context.Context, hello greeting, last *fermata.Session) error {
	if !hello.Capabilities.LoadSession {
		return errCannotLoad
	}
	if was := last.Settings[commandSetting]; was != "" && was != c.r.command() {
		c.logf("the session began with the command %q, and goes on with %q.", was, c.r.command())
	}
	c.beganAt = last.Settings[beganSetting]
	if c.forgetsCancelled {
		c.awaitNextMinute(ctx)
	}
	c.session.setReplaying(true)
	defer c.session.setReplaying(false)
	res, err := acp.SendRequest[*modes](c.conn, ctx, acp.AgentMethodSessionLoad, acp.LoadSessionRequest{
		SessionId: acp.SessionId(last.ID), Cwd: c.handle.Dir(), McpServers: c.servers(), Meta: sessionMeta(),
	})
	if err != nil {
		return err
	}
	c.keepSession(last.ID)
	c.session.awaitReplayEnd(ctx)
	if res == nil {
		return nil // some agents return nothing for a session that they loaded
	}
	return c.setAskingMode(ctx, *res)
}

// geminiName is the name by which Gemini CLI introduces itself.
const geminiName = "gemini-cli"

// awaitNextMinute waits until the minute in which the session began has passed. Gemini CLI names the file of a session by
// that minute. Before it loads the session, it begins another one with the same id. In the same minute, this overwrites
// the file that it is about to read, and the load fails with "No previous sessions found".
func (c *conversation) awaitNextMinute(ctx context.Context) {
	began, err := time.Parse(time.RFC3339, c.beganAt)
	if err != nil {
		return
	}
	remaining := time.Until(began.Truncate(time.Minute).Add(time.Minute + time.Second))
	if remaining <= 0 || remaining > 2*time.Minute {
		return // do not wait for another machine's clock
	}
	c.logf("Gemini CLI loses a session that is loaded in the minute in which it began: it is loaded in %s.", remaining.Round(time.Second))
	timer := time.NewTimer(remaining)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.conn.Done():
	case <-ctx.Done():
	}
}

// isDisconnected reports whether the connection has ended.
func (c *conversation) isDisconnected() bool {
	select {
	case <-c.conn.Done():
		return true
	default:
		return false
	}
}

// lastSession returns the session that the claim continues, or nil if there is none of this runner.
func (c *conversation) lastSession() *fermata.Session {
	if c.claim.Context == nil || c.claim.Context.Session == nil || c.claim.Context.Session.ID == "" {
		return nil
	}
	if s := c.claim.Context.Session; s.Runner == "" || s.Runner == Name {
		return s
	}
	return nil
}

// keepSession records the session.
func (c *conversation) keepSession(id string) {
	c.session.setID(acp.SessionId(id))
	c.handle.KeepSession(*c.sessionRecord())
}

// sessionRecord returns the session with the settings that resuming it needs, or nil if there is none.
func (c *conversation) sessionRecord() *fermata.Session {
	id := string(c.session.id())
	if id == "" {
		return nil
	}
	settings := map[string]string{commandSetting: c.r.command()}
	if c.beganAt != "" {
		settings[beganSetting] = c.beganAt
	}
	return &fermata.Session{ID: id, Settings: settings}
}

// servers returns the MCP server with which the agent asks: Fermata's own.
func (c *conversation) servers() []acp.McpServer {
	o := c.r.opts
	if o.Fermata == "" {
		return []acp.McpServer{}
	}
	env := []acp.EnvVariable{{Name: "FERMATA_TASK", Value: c.claim.Task.ID}, {Name: "FERMATA_RUN", Value: c.claim.Run.ID}}
	for _, v := range []acp.EnvVariable{{Name: "FERMATA_URL", Value: o.URL}, {Name: "FERMATA_TOKEN", Value: o.Token}} {
		if v.Value != "" {
			env = append(env, v)
		}
	}
	return []acp.McpServer{{Stdio: &acp.McpServerStdio{Name: "fermata", Command: o.Fermata, Args: []string{"mcp", "--ask-tool", agent.AskPerson}, Env: env}}}
}

// loadDecisions records the decisions of people since the last run. A session that was cancelled in the middle of a
// request repeats that request.
func (c *conversation) loadDecisions(ctx context.Context) {
	if c.claim.Context == nil {
		return
	}
	c.mail.storeAnswers(c.claim.Context.Questions)
	for i := range c.claim.Context.Questions {
		a := &c.claim.Context.Questions[i]
		if a.Type == fermata.Approval && !a.Resolution.IsApproved() && c.r.opts.Asker != nil {
			c.loadRefusal(ctx, a.QuestionID)
		}
	}
}

func (c *conversation) loadRefusal(ctx context.Context, id string) {
	q, err := c.r.opts.Asker.WaitQuestion(ctx, id, 0)
	if err != nil {
		// People are asked once more, which costs time but permits nothing.
		c.logf("the refusal %s cannot be read: %v.", id, err)
		return
	}
	if q.ActionHash != "" {
		c.refusedHashes[q.ActionHash] = true
	}
}

//go:build unix

package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
)

// If standInEnv is set, the test binary plays the agent with that behaviour. sessionsEnv names the folder in which it
// keeps its sessions.
const (
	standInEnv  = "ACP_STAND_IN"
	sessionsEnv = "ACP_SESSIONS"
)

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(standInEnv); behaviour != "" {
		playStandIn(behaviour)
		return
	}
	os.Exit(m.Run())
}

// Behaviours in addition to those of the suite.
const (
	// runs asks for permission to run the command after "RUN " in a prompt of the session, and writes the command to
	// the file "ran".
	runs = "runs"
	// changes is like runs, but adds " --force" in a loaded session.
	changes = "changes"
	// cannotLoad is like runs, but cannot load sessions.
	cannotLoad = "cannot load"
	// wantsAlways is like runs, but offers only to permit all such calls, and no single one.
	wantsAlways = "wants always"
	// elicits asks for a colour and a count, and reports the reply.
	elicits = "elicits"
	// When a prompt contains the task, hears behaves like runs, and hearsForm like elicits. To other prompts they reply
	// "heard".
	hears     = "hears"
	hearsForm = "hears form"
	// wantsLogin refuses to begin a session.
	wantsLogin = "wants login"
	// isNew speaks a later version of the protocol.
	isNew = "is new"
	// stops ends its turn because its tokens ran out.
	stops = "stops"
	// overreaches asks its client for files and a terminal.
	overreaches = "overreaches"
	// actsUnasked runs a command without asking, and goes on until it is stopped.
	actsUnasked = "acts unasked"
	// failsUnasked is like actsUnasked, but says that the command failed.
	failsUnasked = "fails unasked"
	// leavesRunning runs a command without asking, and never reports its end.
	leavesRunning = "leaves running"
	// defies asks for permission, and runs the command whatever the reply is.
	defies = "defies"
	// usesTwice runs a second command under the id of a call that was permitted.
	usesTwice = "uses twice"
	// looks reads a file without asking.
	looks = "looks"
	// wasOpen begins in a mode in which it never asks, and reports its mode.
	wasOpen = "was open"
	// knowsItsRun reports whether a hook that a person installed would leave the gate to the runner.
	knowsItsRun = "knows its run"
)

// openMode and askMode are modes of sessions.
const openMode, askMode = "yolo", "default"

// standIn is an agent that speaks the protocol with the library's agent side.
type standIn struct {
	behaviour string
	conn      *acp.AgentSideConnection
	loaded    bool
	cancels   chan struct{}
	// turns numbers the calls.
	turns int
	// mode is the mode of the session.
	mode acp.SessionModeId
}

func playStandIn(behaviour string) {
	s := &standIn{behaviour: behaviour, cancels: make(chan struct{}, 10)}
	switch runnertest.Behaviour(behaviour) {
	case runnertest.NeverBegins:
		os.Exit(1)
	case runnertest.IgnoresStop, runnertest.IgnoresStopLonger:
		signal.Ignore(syscall.SIGTERM)
	case runnertest.StopsWell:
		terminated := make(chan os.Signal, 1)
		signal.Notify(terminated, syscall.SIGTERM)
		go func() { <-terminated; os.Exit(1) }()
	}
	s.conn = acp.NewAgentSideConnection(s, os.Stdout, os.Stdin)
	<-s.conn.Done()
	if b := runnertest.Behaviour(behaviour); b == runnertest.IgnoresStop || b == runnertest.IgnoresStopLonger {
		select {}
	}
}

func (s *standIn) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	version := acp.ProtocolVersion(acp.ProtocolVersionNumber)
	if s.behaviour == isNew {
		version = 9
	}
	return acp.InitializeResponse{
		ProtocolVersion: version, AgentCapabilities: acp.AgentCapabilities{LoadSession: s.behaviour != cannotLoad}, AuthMethods: []acp.AuthMethod{},
	}, nil
}

func (s *standIn) NewSession(_ context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	if s.behaviour == wantsLogin {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile("began.json", data, 0o600)
	}
	id := acp.SessionId("s-1")
	if _, gone := os.Stat(s.file("s-1")); gone == nil || os.Getenv(sessionsEnv) != "" && s.hasExisted("s-1") {
		id = "s-2"
	}
	s.remember(id, "")
	res := acp.NewSessionResponse{SessionId: id}
	if s.behaviour == wasOpen {
		s.mode = openMode
		res.Modes = &acp.SessionModeState{CurrentModeId: openMode, AvailableModes: []acp.SessionMode{{Id: openMode, Name: "Yolo"}, {Id: askMode, Name: "Ask"}}}
	}
	return res, err
}

// hasExisted reports whether a session existed before.
func (s *standIn) hasExisted(id string) bool {
	_, err := os.Stat(filepath.Join(os.Getenv(sessionsEnv), id+".past"))
	return err == nil
}

func (s *standIn) LoadSession(ctx context.Context, p acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	if os.Getenv(sessionsEnv) != "" {
		if _, err := os.Stat(s.file(p.SessionId)); err != nil {
			return acp.LoadSessionResponse{}, acp.NewInvalidParams(map[string]string{"error": "no such session"})
		}
	}
	s.loaded = true
	old := acp.SessionNotification{SessionId: p.SessionId, Update: acp.UpdateAgentMessageText("old news\n")}
	// Like Gemini CLI, the stand-in sends old updates after it has said that the session is loaded.
	for late := range 20 {
		time.AfterFunc(time.Duration(late)*2*time.Millisecond, func() {
			s.conn.SessionUpdate(context.WithoutCancel(ctx), old) //nolint:errcheck // the client may be gone
		})
	}
	err := s.conn.SessionUpdate(ctx, old)
	return acp.LoadSessionResponse{}, err
}

func (s *standIn) Cancel(context.Context, acp.CancelNotification) error {
	s.cancels <- struct{}{}
	return nil
}

func (s *standIn) file(id acp.SessionId) string {
	return filepath.Join(os.Getenv(sessionsEnv), string(id))
}

// remember adds a prompt to the session.
func (s *standIn) remember(id acp.SessionId, text string) {
	if os.Getenv(sessionsEnv) == "" {
		return
	}
	past, err := os.ReadFile(s.file(id))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fail(err)
	}
	check(os.WriteFile(s.file(id), append(past, text+"\n"...), 0o600))
	check(os.WriteFile(s.file(id)+".past", nil, 0o600))
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// Prompt takes a turn.
func (s *standIn) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	text := p.Prompt[0].Text.Text
	s.remember(p.SessionId, text)
	t := &turn{standIn: s, ctx: ctx, id: p.SessionId, text: text, reason: acp.StopReasonEndTurn}
	t.play() //nolint:contextcheck // it has the context
	return acp.PromptResponse{StopReason: t.reason}, t.err
}

// turn is one turn of the agent.
type turn struct {
	*standIn
	ctx    context.Context
	id     acp.SessionId
	text   string
	reason acp.StopReason
	err    error
}

func (t *turn) play() {
	switch t.behaviour {
	case runs, changes, cannotLoad, wantsAlways:
		t.run()
	case elicits:
		t.elicit()
	case hears, hearsForm:
		switch {
		case !strings.Contains(t.text, "RUN "):
			t.say("heard")
		case t.behaviour == hears:
			t.run()
		default:
			t.elicit()
		}
	case actsUnasked, failsUnasked, leavesRunning, looks:
		t.actUnasked()
	case defies, usesTwice:
		t.run()
		t.reportStatus("call-1", "execute", "completed")
		if t.behaviour == usesTwice {
			t.update(acp.StartToolCall("call-1", "shell", acp.WithStartKind("execute")))
			t.reportStatus("call-1", "execute", "completed")
			t.awaitEnd()
		}
	case wasOpen:
		t.say(string(t.mode))
	case knowsItsRun:
		t.say(fmt.Sprint(process.IsInRun(os.Getenv(agent.FolderEnv))))
	case stops:
		t.reason = acp.StopReasonMaxTokens
	case overreaches:
		_, err := t.conn.ReadTextFile(t.ctx, acp.ReadTextFileRequest{SessionId: t.id, Path: "/etc/passwd"})
		_, err2 := t.conn.CreateTerminal(t.ctx, acp.CreateTerminalRequest{SessionId: t.id, Command: "sh"})
		t.say(fmt.Sprintf("%v %v", err != nil, err2 != nil))
	default:
		t.playSuite(runnertest.Behaviour(t.behaviour))
	}
}

func (t *turn) playSuite(b runnertest.Behaviour) {
	switch b {
	case runnertest.HandsBack:
		t.handBack()
		t.say("done")
	case runnertest.Talks:
		fmt.Fprintln(os.Stderr, "oops")
		t.say("hello")
	case runnertest.Steps:
		t.update(acp.UpdatePlan(
			acp.PlanEntry{Content: "begin", Status: "completed", Priority: "high"},
			acp.PlanEntry{Content: "half way", Status: "in_progress", Priority: "high"},
		))
	case runnertest.EndsSilently:
	case runnertest.Asks:
		t.update(acp.StartToolCall("c1", "fermata_ask_person"))
		t.update(acp.UpdateToolCall("c1", acp.WithUpdateStatus("completed"), acp.WithUpdateContent([]acp.ToolCallContent{
			acp.ToolContent(acp.TextBlock(`{"status":"pending","question_id":"q_1"}`)),
		})))
		t.awaitCancel()
	case runnertest.AsksInWords:
		t.say("I cannot tell.\n" + `{"status":"needs_input","question":"Which one?"}`)
	case runnertest.Fails:
		fmt.Fprintln(os.Stderr, "no space left")
		os.Exit(3)
	case runnertest.Babbles:
		_, err := os.Stdout.WriteString(strings.Repeat("\x00", 10) + "\n\xff\xfe\n" + strings.Repeat("x", 3_000_000) + "\n{\"some\":\"thing\"}\n")
		check(err)
		t.say("done")
	case runnertest.Hangs:
		t.startChild(`exec 3>alive; echo ready >&3; exec sleep 1000`)
		select {}
	case runnertest.IgnoresStop, runnertest.IgnoresStopLonger:
		t.startChild(`exec 3>alive; trap "" TERM; echo ready >&3; sleep 1000; sleep 1000`)
		select {}
	case runnertest.StopsWell:
		t.startChild(`exec 3>alive; echo ready >&3; exec sleep 1000`)
		t.awaitCancel()
		check(os.WriteFile("stopped", nil, 0o600))
	case runnertest.Listens:
		if strings.HasPrefix(t.text, "use less") {
			t.say(t.text)
			return
		}
		t.startChild(`echo ready >alive`)
		t.awaitCancel()
	case runnertest.LeavesChild:
		alive, err := os.OpenFile("alive", os.O_WRONLY, 0)
		check(err)
		t.startChild(`exec sleep 1000`, alive)
		_, err = alive.WriteString("ready\n")
		check(err)
		t.say("done")
	}
}

func (t *turn) update(u acp.SessionUpdate) {
	check(t.conn.SessionUpdate(context.WithoutCancel(t.ctx), acp.SessionNotification{SessionId: t.id, Update: u}))
}

func (t *turn) say(text string) { t.update(acp.UpdateAgentMessageText(text)) }

func (t *turn) awaitCancel() {
	<-t.cancels
	t.reason = acp.StopReasonCancelled
}

// startChild starts a child that holds the agent's output and the files.
func (t *turn) startChild(script string, files ...*os.File) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, files
	check(cmd.Start())
}

func (t *turn) handBack() {
	title := ""
	for line := range strings.Lines(t.text) {
		if rest, ok := strings.CutPrefix(line, "# "); ok {
			title = strings.TrimSpace(rest)
		}
	}
	if title == "" && t.loaded {
		title = "Paint the fence"
	}
	data, err := json.Marshal(map[string]string{
		"title": title, "run": os.Getenv("FERMATA_RUN"), "attempt": os.Getenv("FERMATA_ATTEMPT"),
		"resumed": os.Getenv("FERMATA_RESUMED"), "text": t.text,
	})
	check(err)
	check(os.WriteFile("handed.json", data, 0o600))
}

// command returns the command that the session was told to run.
func (t *turn) command() string {
	all, err := os.ReadFile(t.file(t.id))
	check(err)
	_, rest, _ := strings.Cut(string(all), "RUN ")
	line, _, _ := strings.Cut(rest, "\n")
	if t.behaviour == changes && t.loaded {
		line += " --force"
	}
	return line
}

// actUnasked runs a command without asking.
func (t *turn) actUnasked() {
	kind, status := acp.ToolKind("execute"), acp.ToolCallStatus("completed")
	switch t.behaviour {
	case failsUnasked:
		status = "failed"
	case leavesRunning:
		status = "in_progress"
	case looks:
		kind = "read"
	}
	t.update(acp.StartToolCall("call-1", "touch ran", acp.WithStartKind(kind)))
	t.reportStatus("call-1", kind, status)
	if t.behaviour == looks || t.behaviour == leavesRunning {
		t.say("done")
		return
	}
	t.awaitEnd()
}

// reportStatus reports the status of a call.
func (t *turn) reportStatus(id acp.ToolCallId, kind acp.ToolKind, status acp.ToolCallStatus) {
	t.update(acp.UpdateToolCall(id, acp.WithUpdateKind(kind), acp.WithUpdateStatus(status)))
}

// awaitEnd waits until the agent is ended. It leaves a child that outlives its parent.
func (t *turn) awaitEnd() {
	t.startChild(`exec sleep 1000`)
	select {}
}

func (t *turn) run() {
	command := t.command()
	title := command
	t.turns++
	call := acp.ToolCallId(fmt.Sprintf("call-%d", t.turns))
	options := []acp.PermissionOption{
		{Kind: acp.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "always"},
		{Kind: acp.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"},
		{Kind: acp.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"},
	}
	if t.behaviour == wantsAlways {
		options = options[:1]
	}
	t.update(acp.StartToolCall(call, "shell", acp.WithStartKind("execute"), acp.WithStartRawInput(map[string]any{"command": command})))
	// The arguments were announced before, so the request does not repeat them.
	res, err := t.conn.RequestPermission(context.WithoutCancel(t.ctx), acp.RequestPermissionRequest{
		SessionId: t.id, Options: options, ToolCall: acp.ToolCallUpdate{ToolCallId: call, Title: &title},
	})
	check(err)
	switch {
	case res.Outcome.Cancelled != nil && t.behaviour != wantsAlways:
		t.awaitCancel()
	case res.Outcome.Selected != nil && res.Outcome.Selected.OptionId == "yes" || t.behaviour == defies:
		file, err := os.OpenFile("ran", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		check(err)
		_, err = io.WriteString(file, command+"\n")
		check(errors.Join(err, file.Close()))
		t.say("ran " + command)
	default:
		t.say("was refused")
	}
}

func (t *turn) elicit() {
	res, err := t.conn.UnstableCreateElicitation(context.WithoutCancel(t.ctx), acp.UnstableCreateElicitationRequest{Form: &acp.UnstableCreateElicitationForm{
		Message: "How shall I paint?", Mode: "form",
		RequestedSchema: acp.UnstableElicitationSchema{Type: "object", Required: []string{"colour"}, Properties: map[string]any{
			"colour": map[string]any{"type": "string", "title": "Colour", "oneOf": []any{
				map[string]any{"const": "g", "title": "Green"}, map[string]any{"const": "b", "title": "Blue"},
			}},
			"the count": map[string]any{"type": "integer", "minimum": 1},
		}},
	}})
	check(err)
	if res.Accept == nil {
		if res.Cancel != nil {
			t.awaitCancel()
		}
		return
	}
	data, err := json.Marshal(res.Accept.Content)
	check(err)
	t.say(string(data))
}

func (s *standIn) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

func (s *standIn) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, nil
}

func (s *standIn) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, nil
}

func (s *standIn) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, nil
}

func (s *standIn) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, nil
}

func (s *standIn) SetSessionMode(_ context.Context, p acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	s.mode = p.ModeId
	return acp.SetSessionModeResponse{}, nil
}

package desk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	asking "github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// newsroom is a server with the session of an agent at a desk. The agent has asked one question.
type newsroom struct {
	testkit.Test
	person  *client.Client
	env     []string
	session string
	asked   *fermata.Question
	// notes is the folder in which the hooks store their notes about all sessions.
	notes string
	// forget removes the notes about the session.
	forget func()
}

func newNewsroom(t *testing.T, program string) *newsroom {
	t.Helper()
	server := process.Serve(t, agent.Fermata(t), []string{"--data", t.TempDir()})
	n := &newsroom{Test: testkit.Test{T: t}, session: "s"}
	folder := filepath.Join(t.TempDir(), "fermata", "asked")
	n.notes = folder
	n.forget = func() { n.OK(os.RemoveAll(folder)) }
	var err error
	n.person, err = client.New(server.URL, server.FirstToken)
	n.OK(err)
	token, err := n.person.CreateToken(t.Context(), fermata.NewToken{Name: "desk", Scopes: []fermata.Scope{fermata.ScopeAsk}})
	n.OK(err)
	n.env = []string{"HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + filepath.Dir(filepath.Dir(folder)), "FERMATA_URL=" + server.URL, "FERMATA_TOKEN=" + token.Secret}
	maker, err := client.New(server.URL, token.Secret)
	n.OK(err)
	n.asked, err = maker.AskOutside(t.Context(), client.OutsideQuestion{
		Session: program + ":s", Ask: fermata.Ask{Title: "Which colour?"},
	})
	n.OK(err)
	notes, err := asking.OpenNotes(folder, program+":s")
	n.OK(err)
	n.OK(notes.AddQuestion(n.asked.ID))
	n.OK(notes.AddTask(n.asked.TaskID))
	return n
}

// hook runs the program's hook for the event and returns its output, which the agent reads.
func (n *newsroom) hook(program, event string) string {
	n.Helper()
	cmd := exec.CommandContext(n.Context(), agent.Fermata(n), "hook", program)
	cmd.Env = n.env
	cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"` + event + `","tool_use_id":"c1","tool_name":"Bash","tool_input":{"command":"make deploy"}}`)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil || trouble.Len() > 0 {
		n.Fatalf("the hook: %v %s", err, trouble.String())
	}
	return string(out)
}

func (n *newsroom) receipts() (got []fermata.HandoffState) {
	n.Helper()
	thread, _, err := n.person.Messages(n.Context(), n.asked.TaskID, "", 0)
	n.OK(err)
	for _, m := range thread {
		got = append(got, m.Handoff)
	}
	return got
}

// If a person lets an agent at a desk decide by itself, the agent is told that. It is not
// told that its question was withdrawn.
func TestDeskIsToldToDecideItself(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"claude", "codex"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			n := newNewsroom(t, program)
			_, err := n.person.ResumeTask(t.Context(), n.asked.TaskID, "I have no time")
			n.OK(err)
			if said := n.hook(program, "Stop"); !strings.Contains(said, "Decide it yourself") || !strings.Contains(said, "I have no time") {
				t.Errorf("the agent is told %s", said)
			}
		})
	}
}

// A person's words reach an agent at a desk at its next event, once, and count as handed
// over from then on. The question stays open.
func TestDeskIsToldTheWords(t *testing.T) {
	t.Parallel()
	for program, event := range map[string]string{"claude": "Stop", "codex": "UserPromptSubmit"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			n := newNewsroom(t, program)
			if said := n.hook(program, event); said != "" {
				t.Errorf("the agent is told %s", said)
			}
			_, err := n.person.Clarify(t.Context(), n.asked.ID, "for which fence?")
			n.OK(err)
			if got := n.receipts(); len(got) != 1 || got[0] != fermata.HandoffMaker {
				t.Errorf("before, the receipts are %q", got)
			}
			said := n.hook(program, event)
			for _, want := range []string{"for which fence?", n.asked.ID, "cancel_question"} {
				if !strings.Contains(said, want) {
					t.Errorf("the agent is told %s, want %s", said, want)
				}
			}
			if got := n.receipts(); len(got) != 1 || got[0] != fermata.HandoffHanded {
				t.Errorf("the receipts are %q", got)
			}
			if said := n.hook(program, event); said != "" {
				t.Errorf("the agent is told again %s", said)
			}
			_, err = n.person.Answer(t.Context(), n.asked.ID, fermata.Answer{Answer: "green"})
			n.OK(err)
			if said := n.hook(program, event); !strings.Contains(said, "green") {
				t.Errorf("the agent is told %s", said)
			}
		})
	}
}

// Words reach an agent at a desk even if it has no open question: after its question was
// answered and read, and if people saw only a permission dialog.
func TestDeskIsToldTheWordsWithoutAQuestion(t *testing.T) {
	t.Parallel()
	t.Run("after an answer", func(t *testing.T) {
		t.Parallel()
		n := newNewsroom(t, "claude")
		n.answerAndRead("green")
		_, err := n.person.PostMessage(t.Context(), n.asked.TaskID, "a darker one")
		n.OK(err)
		n.wantSaid(n.hook("claude", "Stop"), "a darker one")
		if said := n.hook("claude", "Stop"); said != "" {
			t.Errorf("the agent is told again %s", said)
		}
	})
	t.Run("about a call", func(t *testing.T) {
		t.Parallel()
		n := newNewsroom(t, "claude")
		n.answerAndRead("green")
		n.forget()
		n.hook("claude", "PermissionRequest")
		_, err := n.person.PostMessage(t.Context(), n.asked.TaskID, "deploy what?")
		n.OK(err)
		n.wantSaid(n.hook("claude", "UserPromptSubmit"), "deploy what?")
	})
}

// answerAndRead answers the question, and lets the agent read the answer.
func (n *newsroom) answerAndRead(answer string) {
	n.Helper()
	_, err := n.person.Answer(n.Context(), n.asked.ID, fermata.Answer{Answer: answer})
	n.OK(err)
	n.wantSaid(n.hook("claude", "Stop"), answer)
}

func (n *newsroom) wantSaid(said, want string) {
	n.Helper()
	if !strings.Contains(said, want) {
		n.Errorf("the agent is told %s, want %s", said, want)
	}
}

// If a person cancels the task of a session, the hook answers an open permission dialog at the desk with no.
func TestAnOpenDialogOfACancelledTaskIsDenied(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t, "claude")
	_, err := n.person.Answer(t.Context(), n.asked.ID, fermata.Answer{Answer: "green"})
	n.OK(err)
	cmd := exec.CommandContext(t.Context(), agent.Fermata(t), "hook", "claude", "--wait", "5m")
	cmd.Env = n.env
	cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"PermissionRequest","tool_use_id":"c1","tool_name":"Bash","tool_input":{"command":"make deploy"}}`)
	said := make(chan string, 1)
	go func() {
		out, err := cmd.Output()
		said <- string(out) + errorText(err)
	}()
	patience.Await(t, "the dialog is mirrored", func() bool {
		open, _, err := n.person.Questions(t.Context(), client.QuestionQuery{Status: fermata.Pending})
		n.OK(err)
		return len(open) == 1
	})
	_, err = n.person.CancelTask(t.Context(), n.asked.TaskID, "stop it")
	n.OK(err)
	n.wantSaid(patience.Receive(t, "the dialog is answered", said), `"behavior":"deny"`)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

type listCommand struct {
	Awaiting bool                   `short:"a" help:"What waits for a person: the pending questions."`
	Tasks    bool                   `help:"With --awaiting: the tasks that wait instead of their questions. So do all flags that are about tasks."`
	State    []fermata.TaskState    `placeholder:"STATE" help:"Tasks in these states (default: all that have not ended)."`
	All      bool                   `help:"Also tasks that have ended."`
	Project  string                 `help:"Of this project."`
	Label    string                 `help:"With this label, which is the task's."`
	Agent    string                 `placeholder:"ROLE" help:"Tasks for this role."`
	Sort     fermata.TaskSort       `enum:",newest,oldest,priority,updated" default:"" placeholder:"ORDER" help:"Order of tasks: newest (the default), oldest, priority or updated."`
	Parent   string                 `placeholder:"ID" help:"Tasks right below this one."`
	Type     fermata.QuestionType   `enum:",blocking,non_blocking,approval,error_recovery" default:"" placeholder:"TYPE" help:"Questions of this type."`
	Status   fermata.QuestionStatus `enum:",pending,answered,timed_out,cancelled" default:"" placeholder:"STATUS" help:"Questions with this status."`
	Assignee string                 `placeholder:"NAME" help:"Questions for this person, group or role."`
	Search   string                 `short:"q" placeholder:"TEXT" help:"Look for a text."`
	Limit    session.Quantity       `default:"50" help:"At most so many."`
}

func (listCommand) Help() string {
	return `Examples:

    fermata list
    fermata list --awaiting
    fermata list --awaiting --type approval
    fermata list --state failed,cancelled --project shop
    fermata list --sort priority
    fermata list --status timed_out
    fermata list --awaiting --json | jq -r '.[].id'`
}

func (c *listCommand) Run(ctx context.Context, s *session.Session) error {
	ofQuestions := session.GivenFlags(map[string]bool{"--type": c.Type != "", "--status": c.Status != "", "--assignee": c.Assignee != ""})
	ofTasks := session.GivenFlags(map[string]bool{
		"--tasks": c.Tasks, "--state": len(c.State) > 0, "--all": c.All, "--agent": c.Agent != "", "--parent": c.Parent != "", "--sort": c.Sort != "",
	})
	switch {
	case len(ofQuestions) > 0 && len(ofTasks) > 0:
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s lists questions, %s lists tasks", strings.Join(ofQuestions, ", "), strings.Join(ofTasks, ", ")).
			WithHint("leave one of them out")
	case len(ofQuestions) > 0, c.Awaiting && len(ofTasks) == 0:
		return c.questions(ctx, s)
	default:
		return c.tasks(ctx, s)
	}
}

func (c *listCommand) questions(ctx context.Context, s *session.Session) error {
	status := c.Status
	if status == "" {
		status = fermata.Pending
	}
	var sort string
	if status == fermata.Pending {
		sort = fermata.SortInbox
	}
	list, more, err := s.Questions(ctx, client.QuestionQuery{
		Status: status, Sort: sort, Type: c.Type, Project: c.Project, Label: c.Label, Assignee: c.Assignee, Q: c.Search,
	}, int(c.Limit))
	if err != nil {
		return err
	}
	defer s.PrintMoreHint(more, len(list))
	if s.JSON {
		return s.WriteJSON(list)
	}
	s.PrintTable(questionTable(s, list, status), c.noQuestionText(status))
	return nil
}

// noQuestionText returns the text for a list without questions, with what to do next.
func (c *listCommand) noQuestionText(status fermata.QuestionStatus) string {
	switch {
	case c.Project != "" || c.Label != "" || c.Type != "" || c.Assignee != "" || c.Search != "":
		return "no " + string(status) + " question fits the filters; leave some out to see more"
	case status != fermata.Pending:
		return "no question is " + strings.ReplaceAll(string(status), "_", " ")
	default:
		return "nothing waits for an answer; fermata watch shows questions as they are asked"
	}
}

// questionTable returns a table of questions. A script gets every fact in a column of its own. A terminal gets two
// lines for each question: the facts that decide the order, and below them the task and project.
func questionTable(s *session.Session, list []*fermata.Question, status fermata.QuestionStatus) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{{Head: "ID"}, {Head: "RISK"}, {Head: "LEFT"}, {Head: "QUESTION", Flex: true}}}
	if status != fermata.Pending {
		t.Columns[2] = terminal.Column{Head: "ANSWER", Flex: true}
	}
	for _, q := range list {
		last := s.LeftText(q.Deadline)
		if q.Resolution != nil {
			last = q.Resolution.AnswerText()
		}
		if s.OutTerm {
			t.Add(s.IDText(q.ID), string(q.Risk), last, q.Title)
			t.Sublines = append(t.Sublines, render.QuestionSubline(&s.Console, q))
			continue
		}
		t.Add(s.IDText(q.ID), string(q.Type), string(q.Risk), q.Title, q.Project, last, s.AgoText(q.CreatedAt), render.AssigneesText(&s.Console, q),
			q.TaskTitle, strconv.Itoa(len(q.Items)), notice.Votes(q))
	}
	return t
}

func (c *listCommand) tasks(ctx context.Context, s *session.Session) error {
	q := client.TaskQuery{
		State: c.State, Project: c.Project, Label: c.Label, Agent: c.Agent, ParentID: c.Parent, Q: c.Search, NeedsPerson: c.Awaiting,
		Sort: c.Sort,
	}
	if len(q.State) == 0 && !c.All && !c.Awaiting {
		for _, state := range fermata.TaskStates {
			if !state.IsEnded() {
				q.State = append(q.State, state)
			}
		}
	}
	list, more, err := s.Tasks(ctx, q, int(c.Limit))
	if err != nil {
		return err
	}
	defer s.PrintMoreHint(more, len(list))
	if s.JSON {
		return s.WriteJSON(list)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "ID"}, {Head: "STATE"}, {Head: "P"}, {Head: "TITLE", Flex: true}, {Head: "PROJECT", Flex: true}, {Head: "CHANGED"}}}
	for _, task := range list {
		t.Add(s.IDText(task.ID), render.StateText(task), strconv.Itoa(task.Priority), task.Title, task.Project, s.AgoText(task.UpdatedAt))
	}
	s.PrintTable(t, c.noTaskText())
	return nil
}

// noTaskText returns the text for a list without tasks, with what to do next.
func (c *listCommand) noTaskText() string {
	switch {
	case c.Project != "" || c.Label != "" || c.Agent != "" || c.Parent != "" || c.Search != "" || len(c.State) > 0:
		return "no task fits the filters; leave some out to see more"
	case c.Awaiting:
		return "no task waits for a person; fermata list shows what goes on"
	case c.All:
		return "there are no tasks; make one: fermata create TITLE"
	default:
		return "no task is under way; fermata list --all shows those that have ended, fermata create TITLE makes one"
	}
}

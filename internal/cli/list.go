package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
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
	Limit    quantity               `default:"50" help:"At most so many."`
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

func (c *listCommand) Run(ctx context.Context, s *session) error {
	ofQuestions := givenFlags(map[string]bool{"--type": c.Type != "", "--status": c.Status != "", "--assignee": c.Assignee != ""})
	ofTasks := givenFlags(map[string]bool{
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

func (c *listCommand) questions(ctx context.Context, s *session) error {
	status := c.Status
	if status == "" {
		status = fermata.Pending
	}
	list, more, err := s.questions(ctx, client.QuestionQuery{
		Status: status, Type: c.Type, Project: c.Project, Label: c.Label, Assignee: c.Assignee, Q: c.Search,
	}, int(c.Limit))
	if err != nil {
		return err
	}
	defer s.printMoreHint(more, len(list))
	if s.JSON {
		return s.writeJSON(list)
	}
	s.printTable(s.questionTable(list, status), c.noQuestion(status))
	return nil
}

// noQuestion returns the text for a list without questions, with what to do next.
func (c *listCommand) noQuestion(status fermata.QuestionStatus) string {
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
func (s *session) questionTable(list []*fermata.Question, status fermata.QuestionStatus) *table {
	t := &table{columns: []column{{head: "ID"}, {head: "RISK"}, {head: "LEFT"}, {head: "QUESTION", flex: true}}}
	if status != fermata.Pending {
		t.columns[2] = column{head: "ANSWER", flex: true}
	}
	for _, q := range list {
		last := s.leftText(q.Deadline)
		if q.Resolution != nil {
			last = q.Resolution.AnswerText()
		}
		if s.outTerm {
			t.add(s.idText(q.ID), string(q.Risk), last, q.Title)
			t.sublines = append(t.sublines, s.questionSubline(q))
			continue
		}
		t.add(s.idText(q.ID), string(q.Type), string(q.Risk), q.Title, q.Project, last, s.agoText(q.CreatedAt), s.assigneesText(q),
			q.TaskTitle, strconv.Itoa(len(q.Items)), notice.Votes(q))
	}
	return t
}

// questionSubline returns the second line of a question in a list: its type, task, project, progress and assignees.
func (s *console) questionSubline(q *fermata.Question) string {
	facts := append([]string{string(q.Type)}, notice.TaskAndProject(q)...)
	facts = append(facts, factsWithoutRisk(q)...)
	return strings.Join(append(facts, "for "+s.assigneesText(q), s.agoText(q.CreatedAt)+" ago"), " · ")
}

// factsWithoutRisk returns the number of items and the votes of a question. The risk has a column of its own.
func factsWithoutRisk(q *fermata.Question) []string {
	return slices.DeleteFunc(notice.Facts(q), func(fact string) bool { return fact == "risk "+string(q.Risk) })
}

// assigneesText returns the assignees of a question. For scripts it is empty if anybody may answer.
func (s *console) assigneesText(q *fermata.Question) string {
	if len(q.Assignees) == 0 && s.outTerm {
		return "anybody"
	}
	return strings.Join(q.Assignees, ", ")
}

func (c *listCommand) tasks(ctx context.Context, s *session) error {
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
	list, more, err := s.tasks(ctx, q, int(c.Limit))
	if err != nil {
		return err
	}
	defer s.printMoreHint(more, len(list))
	if s.JSON {
		return s.writeJSON(list)
	}
	t := &table{columns: []column{{head: "ID"}, {head: "STATE"}, {head: "P"}, {head: "TITLE", flex: true}, {head: "PROJECT", flex: true}, {head: "CHANGED"}}}
	for _, task := range list {
		t.add(s.idText(task.ID), stateText(task), strconv.Itoa(task.Priority), task.Title, task.Project, s.agoText(task.UpdatedAt))
	}
	s.printTable(t, c.noTask())
	return nil
}

// noTask returns the text for a list without tasks, with what to do next.
func (c *listCommand) noTask() string {
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

// tasks reads pages up to limit tasks. The second result reports whether there are more tasks.
func (s *session) tasks(ctx context.Context, q client.TaskQuery, limit int) ([]*fermata.Task, bool, error) {
	server, err := s.server()
	if err != nil {
		return nil, false, err
	}
	return collectPages(limit, func(cursor string, n int) ([]*fermata.Task, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.Tasks(ctx, q)
	})
}

// questions reads pages up to limit questions. The second result reports whether there are more questions.
func (s *session) questions(ctx context.Context, q client.QuestionQuery, limit int) ([]*fermata.Question, bool, error) {
	server, err := s.server()
	if err != nil {
		return nil, false, err
	}
	return collectPages(limit, func(cursor string, n int) ([]*fermata.Question, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.Questions(ctx, q)
	})
}

// maxPageSize is the largest number of items that one request asks for.
const maxPageSize = 100

// printMoreHint prints on standard error that a list was cut at its limit.
func (s *session) printMoreHint(hasMore bool, shownCount int) {
	if hasMore {
		s.stderr().line("%d shown, and there are more: --limit %d shows more of them", shownCount, 10*shownCount)
	}
}

// collectPages collects the pages of a list up to limit, and reports whether there are more. The list is never nil, so
// that it is [] in JSON.
func collectPages[T any](limit int, read func(cursor string, n int) ([]T, string, error)) ([]T, bool, error) {
	all := []T{}
	cursor := ""
	for {
		items, next, err := read(cursor, min(limit-len(all), maxPageSize))
		if err != nil {
			return nil, false, err
		}
		all = append(all, items...)
		if next == "" || len(all) >= limit || next == cursor {
			return all, next != "" && next != cursor, nil
		}
		cursor = next
	}
}

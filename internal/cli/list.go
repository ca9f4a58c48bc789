package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type listCommand struct {
	Awaiting bool                   `short:"a" help:"What waits for a person: the pending questions."`
	Tasks    bool                   `help:"With --awaiting: the tasks that wait instead of their questions."`
	State    []fermata.TaskState    `placeholder:"STATE" help:"Tasks in these states (default: all that have not ended)."`
	All      bool                   `help:"Also tasks that have ended."`
	Project  string                 `help:"Of this project."`
	Label    string                 `help:"Tasks with this label."`
	Agent    string                 `placeholder:"ROLE" help:"Tasks for this role."`
	Sort     fermata.TaskSort       `enum:"newest,oldest,priority,updated" default:"newest" help:"Order of tasks: newest, oldest, priority or updated."`
	Parent   string                 `placeholder:"ID" help:"Tasks right below this one."`
	Type     fermata.QuestionType   `enum:",blocking,non_blocking,approval,error_recovery" default:"" placeholder:"TYPE" help:"Questions of this type."`
	Status   fermata.QuestionStatus `enum:",pending,answered,timed_out,cancelled" default:"" placeholder:"STATUS" help:"Questions with this status."`
	Assignee string                 `placeholder:"NAME" help:"Questions for this person, group or role."`
	Search   string                 `short:"q" placeholder:"TEXT" help:"Look for a text."`
	Limit    int                    `default:"50" help:"At most so many."`
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
	questions := c.Awaiting || c.Status != "" || c.Type != "" || c.Assignee != ""
	if questions && !c.Tasks && len(c.State) == 0 {
		return c.questions(ctx, s)
	}
	return c.tasks(ctx, s)
}

func (c *listCommand) questions(ctx context.Context, s *session) error {
	status := c.Status
	if status == "" {
		status = fermata.Pending
	}
	list, err := s.questions(ctx, client.QuestionQuery{
		Status: status, Type: c.Type, Project: c.Project, Assignee: c.Assignee, Q: c.Search,
	}, c.Limit)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.json(list)
	}
	t := &table{columns: []column{{head: "ID"}, {head: "TYPE"}, {head: "RISK"}, {head: "QUESTION", flex: true}, {head: "PROJECT", flex: true}, {head: "LEFT"}, {head: "ASKED"}, {head: "FOR", flex: true}}}
	if status != fermata.Pending {
		t.columns[5] = column{head: "ANSWER", flex: true}
	}
	for _, q := range list {
		last := s.left(q.Deadline)
		if q.Resolution != nil {
			last = q.Resolution.AnswerText()
		}
		t.add(s.id(q.ID), string(q.Type), string(q.Risk), q.Title, q.Project, last, s.ago(q.CreatedAt), s.whom(q))
	}
	s.print(t, "nothing waits for an answer")
	return nil
}

// whom says who may answer; for scripts it is empty when anybody may.
func (s *session) whom(q *fermata.Question) string {
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
			if !state.Ended() {
				q.State = append(q.State, state)
			}
		}
	}
	list, err := s.tasks(ctx, q, c.Limit)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.json(list)
	}
	t := &table{columns: []column{{head: "ID"}, {head: "STATE"}, {head: "P"}, {head: "TITLE", flex: true}, {head: "PROJECT", flex: true}, {head: "CHANGED"}}}
	for _, task := range list {
		t.add(s.id(task.ID), stateText(task), strconv.Itoa(task.Priority), task.Title, task.Project, s.ago(task.UpdatedAt))
	}
	s.print(t, "there are no such tasks")
	return nil
}

// tasks reads pages until there are no more, or limit tasks.
func (s *session) tasks(ctx context.Context, q client.TaskQuery, limit int) ([]*fermata.Task, error) {
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	return pages(limit, func(cursor string, n int) ([]*fermata.Task, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.Tasks(ctx, q)
	})
}

// questions reads pages until there are no more, or limit questions.
func (s *session) questions(ctx context.Context, q client.QuestionQuery, limit int) ([]*fermata.Question, error) {
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	return pages(limit, func(cursor string, n int) ([]*fermata.Question, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.Questions(ctx, q)
	})
}

// longestPage is how many things one request asks for.
const longestPage = 100

// pages gathers the pages of a list up to limit. The list is never nil, so
// that it is [] in JSON.
func pages[T any](limit int, read func(cursor string, n int) ([]T, string, error)) ([]T, error) {
	all := []T{}
	cursor := ""
	for {
		items, next, err := read(cursor, min(limit-len(all), longestPage))
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" || len(all) >= limit || next == cursor {
			return all, nil
		}
		cursor = next
	}
}

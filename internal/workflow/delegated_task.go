package workflow

import (
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// spec is the data that the worker reads from a step's task, in addition to the text of the task.
type spec struct {
	Command []string `json:"command,omitempty"`
	// WorkingCopy is the id of the run, because its steps share one working copy. A step with its own working copy has
	// From instead, the id of the run from whose branch that copy starts.
	WorkingCopy string `json:"working_copy,omitempty"`
	From        string `json:"from,omitempty"`
	Push        bool   `json:"push,omitempty"`
	// PlainOutput says that the output of the command is data: a worker reads no agent's result from it. Otherwise a
	// failed command could print a line that counts as success.
	PlainOutput bool `json:"plain_output,omitempty"`
	// CommandReport says what the worker puts into the details of a command's run; see [commandReport].
	CommandReport string `json:"command_report,omitempty"`
	// Timeout is the time limit of one execution, as time.Duration.String writes it.
	Timeout string `json:"timeout,omitempty"`
	Key     string `json:"key"`
}

// renderNamedTool returns the prompt of an agent, or the arguments of a command, with the input of a step. It returns a
// [stepError] if the input lacks a value.
func (x *execution) renderNamedTool(n *fermata.NamedTool, input map[string]any) ([]string, error) {
	env := definition.Env{"input": input, "inputs": x.inputs, "trigger": x.cause, "run": map[string]any{"id": x.run.ID, "workflow": x.run.Workflow}}
	sources, what := n.Command, "command"
	if n.Agent != nil {
		sources, what = []string{n.Agent.Prompt}, "prompt"
	}
	texts := make([]string, len(sources))
	for i, source := range sources {
		var err error
		if texts[i], err = renderText(source, env); err != nil {
			return nil, permanentError(codeInput, fmt.Errorf("the %s of %s: %w", what, n.Name, err))
		}
	}
	return texts, nil
}

// commandSpec returns the spec of the task of a command.
func commandSpec(argv []string, step *definition.Step, n *fermata.NamedTool) spec {
	report := reportOutput
	if len(step.Schema) > 0 || n != nil && len(n.Schema) > 0 {
		report = reportJSON
	}
	return spec{Command: argv, PlainOutput: true, CommandReport: report, Timeout: configuredTimeout(step, n)}
}

// configuredTimeout returns the time limit that a step or its tool sets for an execution, or "" if neither sets one.
func configuredTimeout(step *definition.Step, n *fermata.NamedTool) string {
	if step.Timeout == 0 && (n == nil || n.Timeout == "") {
		return ""
	}
	return callTimeout(step, n).String()
}

// renderText renders the templates in a text.
func renderText(source string, env definition.Env) (string, error) {
	v, err := parseTemplate(source)
	if err != nil {
		return "", err
	}
	rendered, err := v.Render(env)
	if err != nil {
		return "", err
	}
	if s, ok := rendered.(string); ok {
		return s, nil
	}
	if rendered == nil {
		return "", fmt.Errorf("%s is null", source)
	}
	return string(encodeJSON(rendered)), nil
}

// parseTemplate parses a text with templates.
func parseTemplate(source string) (definition.Value, error) {
	v, faults := expression.Text(source)
	if len(faults) > 0 {
		return v, fmt.Errorf("%s", faults[0].Message)
	}
	return v, nil
}

// describeAgentTask returns the task of the built-in tool agent.
func describeAgentTask(_ *execution, step *definition.Step, u unit) (fermata.NewTask, spec, error) {
	str := func(key string) string { s, _ := u.input[key].(string); return s }
	isolated, _ := u.input["isolated"].(bool)
	return fermata.NewTask{
		Title: str("title"), Runner: str("runner"), Agent: str("agent"), Size: str("size"), Isolated: isolated, Body: AgentPrompt(str("prompt"), step.Schema) + u.feedback,
	}, spec{Timeout: configuredTimeout(step, nil)}, nil
}

// describeShellTask returns the task of the built-in tool shell.
func describeShellTask(_ *execution, step *definition.Step, u unit) (fermata.NewTask, spec, error) {
	var argv []string
	if script, ok := u.input["run"].(string); ok {
		argv = []string{"sh", "-eu", "-c", script}
	}
	isolated, _ := u.input["isolated"].(bool)
	list, _ := u.input["command"].([]any)
	for _, arg := range list {
		text, _ := expression.ScalarText(arg) // the schema allows nothing else
		argv = append(argv, text)
	}
	return fermata.NewTask{Runner: fermata.RunnerShell, Isolated: isolated}, commandSpec(argv, step, nil), nil
}

// namedToolDelegation returns how a tool of the workspace is delegated.
func namedToolDelegation(n *fermata.NamedTool) delegation {
	return describeTask(func(x *execution, step *definition.Step, u unit) (fermata.NewTask, spec, error) {
		texts, err := x.renderNamedTool(n, u.input)
		if err != nil {
			return fermata.NewTask{}, spec{}, err
		}
		if n.Agent != nil {
			return fermata.NewTask{
				Runner: n.Agent.Runner, Agent: n.Agent.Agent, Size: n.Agent.Size, Isolated: n.Isolated, Body: AgentPrompt(texts[0], n.Schema) + u.feedback,
			}, spec{Timeout: configuredTimeout(step, n)}, nil
		}
		return fermata.NewTask{Runner: fermata.RunnerShell, Isolated: n.Isolated}, commandSpec(texts, step, n), nil
	}).delegation()
}

// newTask returns the task that does the work of a unit. It returns a [stepError] if the input of the unit allows none.
func (x *execution) newTask(describe describeTask, step *definition.Step, u unit) (fermata.NewTask, error) {
	n, sp, err := describe(x, step, u)
	if err != nil {
		return n, err
	}
	if n.Title == "" {
		n.Title = x.run.Workflow + ": " + step.ID
		if u.row.Item != nil {
			n.Title += fmt.Sprintf(" (%d)", *u.row.Item+1)
		}
	}
	sp.Key = u.row.Key()
	if step.OwnCopy {
		sp.From, sp.Push = x.run.ID, x.mustPushStepBranches()
	} else {
		sp.WorkingCopy, sp.Push = x.run.ID, x.mustPushRunBranch()
	}
	if n.Runner == fermata.RunnerShell && step.Retry != nil && step.Retry.Attempts == 1 {
		// If the worker of a command is lost, nobody knows how much of the command ran. So a command with one attempt
		// is not run again.
		n.MaxAttempts = 1
	}
	n.Title, n.Project, n.Spec = truncate(n.Title, fermata.MaxTaskTitle), x.run.Project, encodeJSON(sp)
	return n, x.checkExposure(n)
}

// checkTask returns a [stepError] if no task can do the work of a unit.
func (x *execution) checkTask(describe describeTask, step *definition.Step, u unit) error {
	n, err := x.newTask(describe, step, u)
	if err == nil {
		_, err = n.Create("", fermata.SystemActor, x.now)
	}
	if refusal := asDelegationRefusal(err); refusal != nil {
		return refusal
	}
	return err
}

// mustPushRunBranch reports whether the workflow opens a pull request, so that the branch of the run must be pushed to GitHub.
func (x *execution) mustPushRunBranch() bool {
	for i := range x.def.Steps {
		if x.def.Steps[i].Tool == "github_create_pr" {
			return true
		}
	}
	return false
}

// mustPushStepBranches reports whether the workflow opens a pull request from a named branch. Then the branches of its steps must
// be pushed to GitHub.
func (x *execution) mustPushStepBranches() bool {
	return slices.ContainsFunc(x.def.Steps, func(step definition.Step) bool {
		_, namesHead := step.Input.Field("head")
		return step.Tool == "github_create_pr" && namesHead
	})
}

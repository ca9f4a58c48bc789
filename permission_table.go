package fermata

// Lists of scopes for the rows of the table. A caller needs one scope of the list.
var (
	byReading  = []Scope{ScopeRead}
	byAsking   = []Scope{ScopeAsk, ScopeWork}
	byWriting  = []Scope{ScopeAsk, ScopeWork, ScopeAnswer}
	byWorking  = []Scope{ScopeWork}
	byStarting = []Scope{ScopeWork, ScopeAnswer}
	byDeciding = []Scope{ScopeAnswer}
	byRuling   = []Scope{ScopeAdmin}
)

// decides describes the rule beside the table that says who may decide a question.
const decides = "the question's own rule: assignees, quorum, sign-in"

// table holds every verb, in the order of the documentation page.
var table []Verb

func verb(p permission) Verb {
	v := Verb{row: &p}
	table = append(table, v)
	return v
}

// Verbs lists every verb.
func Verbs() []Verb { return table }

// Verbs for tasks.
var (
	ToReadTasks = verb(permission{Name: "task.read", Does: "read tasks, runs, threads, projects and workers", Scopes: byReading, Agents: true, Calls: []string{
		"list-tasks", "count-tasks", "get-task", "get-task-context", "get-task-tree", "get-task-timeline", "list-messages", "list-runs", "get-run",
		"get-run-log", "list-projects", "list-workers",
	}})
	ToCreateTask     = verb(permission{Name: "task.create", Does: "make tasks", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"create-task"}})
	ToChangeTask     = verb(permission{Name: "task.change", Does: "change tasks", Scopes: byWriting, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"update-task", "defer-task"}})
	ToCancelTask     = verb(permission{Name: "task.cancel", Does: "cancel tasks", Scopes: byWriting, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"cancel-task"}})
	ToPauseTask      = verb(permission{Name: "task.pause", Does: "pause tasks", Scopes: byWriting, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"pause-task"}})
	ToReopenTask     = verb(permission{Name: "task.reopen", Does: "reopen tasks", Scopes: byWriting, Role: RoleResponder, Calls: []string{"reopen-task"}})
	ToResumeTask     = verb(permission{Name: "task.resume", Does: "resume tasks", Scopes: byWriting, Role: RoleResponder, Beside: "a run of a workflow that waits for an answer: who may answer", Calls: []string{"resume-task"}})
	ToFinishTask     = verb(permission{Name: "task.finish", Does: "finish external tasks", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"finish-task"}})
	ToWriteToTask    = verb(permission{Name: "task.write", Does: "write into threads", Scopes: byWriting, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"post-message"}})
	ToReportProgress = verb(permission{Name: "task.progress", Does: "report progress", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"report-progress"}})
)

// Verbs for questions.
var (
	ToReadQuestions = verb(permission{Name: "question.read", Does: "read questions", Scopes: byReading, Agents: true, Calls: []string{
		"list-questions", "list-task-questions", "get-question", "count-questions", "similar", "list-deciders", "get-receipt",
	}})
	ToAsk          = verb(permission{Name: "question.ask", Does: "ask people", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"ask", "ask-outside"}})
	ToHandMessages = verb(permission{
		Name: "message.hand", Does: "say which messages an agent read", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true,
		Beside: "the task's own agent, and not a worker's", Calls: []string{"hand-messages"},
	})
	ToAnswer = verb(permission{Name: "question.answer", Does: "answer questions", Scopes: byDeciding, Role: RoleResponder, Beside: decides, Calls: []string{
		"answer", "answer-many", "prepare-decision", "clarify", "extend", "undo",
	}})
	ToAssign         = verb(permission{Name: "question.assign", Does: "assign questions", Scopes: byDeciding, Role: RoleResponder, Beside: "who may answer it, and operators", Calls: []string{"assign"}})
	ToComment        = verb(permission{Name: "question.comment", Does: "comment on questions", Scopes: byDeciding, Role: RoleResponder, Calls: []string{"comment"}})
	ToCancelQuestion = verb(permission{Name: "question.cancel", Does: "withdraw questions", Scopes: byWriting, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"cancel-question"}})
)

// Verbs for workers.
var (
	ToClaim   = verb(permission{Name: "run.claim", Does: "claim tasks", Scopes: byWorking, Role: RoleResponder, Agents: true, Calls: []string{"claim", "leave-worker"}})
	ToHoldRun = verb(permission{Name: "run.hold", Does: "report on runs", Scopes: byWorking, Role: RoleResponder, Agents: true, Beside: "the fencing token of the claim", Calls: []string{
		"heartbeat", "append-run-log", "report-run-progress", "finish-run", "release-run",
	}})
	ToAttend = verb(permission{Name: "run.attend", Does: "wait for news of runs", Scopes: byWorking, Agents: true, Beside: "the fencing token of the claim", Calls: []string{"attention"}})
)

// Verbs for gates.
var (
	ToGate     = verb(permission{Name: "gate.ask", Does: "ask whether a tool call may run", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true, Beside: "in a session, whoever began it", Calls: []string{"gate"}})
	ToUseGrant = verb(permission{Name: "grant.use", Does: "use grants", Scopes: byAsking, Role: RoleResponder, Agents: true, Beside: "the grant itself", Calls: []string{"verify-grant"}})
	// ToReadGrants is for the agent whose action was approved. Anyone who holds a grant may use it.
	ToReadGrants      = verb(permission{Name: "grant.read", Does: "be handed grants", Scopes: byAsking, Role: RoleResponder, Agents: true, Apart: true, Beside: "of a session, whoever began it"})
	ToReadGateRules   = verb(permission{Name: "gate.rules_read", Does: "read the rules of gates", Scopes: byReading, Agents: true, Calls: []string{"list-gate-rules"}})
	ToChangeGateRules = verb(permission{
		Name: "gate.rules_change", Does: "change the rules of gates", Scopes: byDeciding, Role: RoleOperator, Guarded: true,
		Beside: "a rule for every project: in every project", Calls: []string{"add-gate-rule", "remove-gate-rule"},
	})
)

// Verbs for events, the audit and analytics.
var (
	ToReadEvents = verb(permission{Name: "event.read", Does: "read events", Scopes: byReading, Agents: true, Calls: []string{"list-task-events", "stream-events"}})
	ToReadAudit  = verb(permission{Name: "audit.read", Does: "read and verify the audit", Scopes: byReading, Beside: "to export and to verify all of it, sight of every project", Calls: []string{
		"list-audit", "export-audit", "verify-audit",
	}})
	ToReadAnalytics = verb(permission{Name: "analytics.read", Does: "read analytics", Scopes: byReading, Agents: true, Calls: []string{
		"analytics-summary", "analytics-series", "analytics-questions", "analytics-responders", "analytics-projects",
	}})
)

// Verbs for outgoing messages.
var (
	ToReadDeliveries = verb(permission{
		Name: "delivery.read", Does: "read what was sent", Scopes: byReading, Agents: true,
		Beside: "one's own with the scope answer; of others, by question, to whom and no content", Calls: []string{"list-deliveries", "get-delivery"},
	})
	ToOverlookDeliveries = verb(permission{Name: "delivery.overlook", Does: "see what was sent to others", Scopes: byReading, Role: RoleOperator, Whole: true})
	ToReadContent        = verb(permission{
		Name: "delivery.content", Does: "read the content of what was sent to others", Scopes: byDeciding, Role: RoleOperator,
		Beside: "in a browser only; a digest: in every project",
	})
	ToRedeliver = verb(permission{
		Name: "delivery.redeliver", Does: "send messages again", Scopes: byDeciding, Role: RoleOperator,
		Beside: "a digest: in every project", Calls: []string{"redeliver"},
	})
	ToManageChannels = verb(permission{Name: "channel.manage", Does: "set up channels and routes", Scopes: byRuling, Role: RoleAdmin, Whole: true, Calls: []string{
		"list-channel-kinds", "list-channels", "get-channel", "add-channel", "change-channel", "remove-channel", "test-channel", "set-routes",
	}})
)

// Verbs for workflows.
var (
	ToReadWorkflows = verb(permission{Name: "workflow.read", Does: "read workflows, their runs and tools", Scopes: byReading, Agents: true, Calls: []string{
		"list-workflows", "get-workflow", "validate-workflow", "list-workflow-runs", "list-runs-of-workflow", "get-workflow-run", "list-tools",
		"list-named-tools", "get-named-tool", "list-mcp-servers", "get-mcp-server",
	}})
	ToDefineWorkflow = verb(permission{Name: "workflow.define", Does: "change and test workflows", Scopes: byWorking, Role: RoleOperator, Calls: []string{
		"put-workflow", "test-workflow", "enable-workflow", "disable-workflow", "remove-workflow", "new-webhook-secret",
	}})
	ToStartWorkflow = verb(permission{Name: "workflow.start", Does: "start workflows", Scopes: byStarting, Role: RoleResponder, Agents: true, Calls: []string{"start-workflow"}})
	ToRetryWorkflow = verb(permission{Name: "workflow.retry", Does: "retry runs of workflows", Scopes: byWriting, Role: RoleResponder, Agents: true, Apart: true, Calls: []string{"retry-workflow-run"}})
	// ToRewindWorkflow needs the same rights as a change of the workflow, because approved steps are done again, or differently.
	ToRewindWorkflow = verb(permission{Name: "workflow.rewind", Does: "send runs back to a step, or move them to the newest definition", Scopes: byWorking, Role: RoleOperator, Calls: []string{"rewind-workflow-run", "move-workflow-run"}})
	ToDefineTools    = verb(permission{Name: "tool.manage", Does: "change tools", Scopes: byWorking, Role: RoleOperator, Whole: true, Beside: "a tool that is an MCP server: as `tool.server`", Calls: []string{
		"put-named-tool", "put-named-tools", "remove-named-tool", "refresh-tool",
	}})
	ToDefineServers = verb(permission{Name: "tool.server", Does: "configure MCP servers", Scopes: byWorking, Role: RoleAdmin, Whole: true, Guarded: true, Calls: []string{"put-mcp-server", "remove-mcp-server"}})
)

// Verbs for people and for the workspace.
var (
	ToReadPeople   = verb(permission{Name: "people.read", Does: "list people and groups", Scopes: byReading, Agents: true, Calls: []string{"list-members", "list-groups"}})
	ToManagePeople = verb(permission{Name: "people.manage", Does: "manage people", Scopes: byRuling, Role: RoleAdmin, Whole: true, Calls: []string{
		"add-member", "invite", "list-invitations", "withdraw-invitation", "add-group", "change-group", "delete-group", "set-identity", "remove-identity",
	}})
	ToReadPolicy   = verb(permission{Name: "policy.read", Does: "read the policy, the routes and the key for pushes", Scopes: byReading, Agents: true, Calls: []string{"get-policy", "get-routes", "get-push-key"}})
	ToChangePolicy = verb(permission{Name: "policy.change", Does: "change the policy", Scopes: byRuling, Role: RoleAdmin, Whole: true, Calls: []string{"set-policy"}})
)

// Verbs for a person's own things.
var (
	ToReadOwn = verb(permission{Name: "me.read", Does: "read what is a person's own", Scopes: byRuling, own: ownReads, Calls: []string{
		"get-my-preferences", "get-preferences", "list-identities", "list-my-devices", "list-member-devices", "list-notifications", "list-passkeys", "list-member-passkeys",
		"list-sessions", "list-member-sessions", "list-views",
	}})
	ToChangeOwn = verb(permission{Name: "me.change", Does: "change what is a person's own", Scopes: byRuling, own: ownActs, Calls: []string{
		"change-member", "set-my-preferences", "set-preferences", "test-my-notifications", "add-device", "remove-device", "read-notifications", "snooze",
		"save-view", "delete-view", "end-session", "end-member-sessions", "revoke-answer-links", "sign-out",
	}})
	ToMakeLink = verb(permission{
		Name: "me.make_link", Does: "make sign-in links", Scopes: byRuling, own: ownActs,
		Beside: "a token has every scope that the person has", Calls: []string{"make-sign-in-link"},
	})
	ToMakeTokens = verb(permission{
		Name: "token.make", Does: "manage tokens", Scopes: byRuling, own: ownActs, Session: true,
		Beside: "one's own has no scope that one has not", Calls: []string{"list-tokens", "create-token", "revoke-token"},
	})
	ToManagePasskeys = verb(permission{
		Name: "me.passkeys", Does: "add and remove passkeys", Scopes: byRuling, own: ownActs, Session: true,
		Beside: "a fresh sign-in, with a passkey where there is one", Calls: []string{"begin-add-passkey", "end-add-passkey", "remove-passkey"},
	})
	// ToCall is open to everybody, even without sign-in. It discloses nothing.
	ToCall = verb(permission{Name: "open", Does: "sign in and read who one is", Scopes: byReading, Agents: true, Beside: "without a token as well", Calls: []string{
		"whoami", "list-sign-in-methods", "sign-in-by-email", "sign-in-by-link", "begin-oidc", "end-oidc", "begin-passkey", "end-passkey", "call-workflow-webhook",
	}})
)

// permissionsHead is the beginning of the documentation page.
const permissionsHead = `# Permissions

Who may do what. A call needs one of the scopes, and a person the role as well: in the project of the thing, or of the whole
workspace. Agents are bounded by the scopes of their tokens, and never have ` + "`answer`" + ` or ` + "`admin`" + `. Where it says "own tasks", an agent
reaches those that its token made and those that its worker claimed last, with their subtasks and questions. What belongs to a project that
the caller does not see does not exist: every verb finds nothing there. The scope ` + "`admin`" + ` of a person includes
every other one; every scope reads. A refused call says what is missing. The policy ` + "`admin_assurance`" + ` says how strongly a person must be
known to have the scope ` + "`admin`" + `, to change the rules of gates and to configure MCP servers.

This page is printed from the table that the server asks.

| verb | what | scope | person's role | agents | calls |
| --- | --- | --- | --- | --- | --- |
`

package fermata

// Lists of scopes for the rows of the table. A caller needs one scope of the list.
var (
	readScopes   = []Scope{ScopeRead}
	askScopes    = []Scope{ScopeAsk, ScopeWork}
	writeScopes  = []Scope{ScopeAsk, ScopeWork, ScopeAnswer}
	workScopes   = []Scope{ScopeWork}
	startScopes  = []Scope{ScopeWork, ScopeAnswer}
	decideScopes = []Scope{ScopeAnswer}
	adminScopes  = []Scope{ScopeAdmin}
)

// decideRule describes the rule for deciding a question, which is checked in addition to the table.
const decideRule = "the question's own rule: assignees, quorum, sign-in"

// verbTable holds every verb, in the order of the documentation page.
var verbTable []Verb

func addVerb(p permission) Verb {
	v := Verb{row: &p}
	verbTable = append(verbTable, v)
	return v
}

// Verbs lists every verb.
func Verbs() []Verb { return verbTable }

// Verbs for tasks.
var (
	ToReadTasks = addVerb(permission{Name: "task.read", Description: "read tasks, runs, threads, projects and workers", Scopes: readScopes, AllowsAgents: true, Operations: []string{
		"list-tasks", "count-tasks", "get-task", "get-task-context", "get-task-tree", "get-task-timeline", "list-messages", "list-runs", "get-run",
		"get-run-log", "list-projects", "list-workers",
	}})
	ToCreateTask     = addVerb(permission{Name: "task.create", Description: "make tasks", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"create-task"}})
	ToChangeTask     = addVerb(permission{Name: "task.change", Description: "change tasks", Scopes: writeScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"update-task", "defer-task"}})
	ToCancelTask     = addVerb(permission{Name: "task.cancel", Description: "cancel tasks", Scopes: writeScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"cancel-task"}})
	ToPauseTask      = addVerb(permission{Name: "task.pause", Description: "pause tasks", Scopes: writeScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"pause-task"}})
	ToReopenTask     = addVerb(permission{Name: "task.reopen", Description: "reopen tasks", Scopes: writeScopes, Role: RoleResponder, Operations: []string{"reopen-task"}})
	ToResumeTask     = addVerb(permission{Name: "task.resume", Description: "resume tasks", Scopes: writeScopes, Role: RoleResponder, ExtraRule: "a run of a workflow that waits for an answer: who may answer", Operations: []string{"resume-task"}})
	ToFinishTask     = addVerb(permission{Name: "task.finish", Description: "finish external tasks", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"finish-task"}})
	ToWriteToTask    = addVerb(permission{Name: "task.write", Description: "write into threads", Scopes: writeScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"post-message"}})
	ToReportProgress = addVerb(permission{Name: "task.progress", Description: "report progress", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"report-progress"}})
)

// Verbs for questions.
var (
	ToReadQuestions = addVerb(permission{Name: "question.read", Description: "read questions", Scopes: readScopes, AllowsAgents: true, Operations: []string{
		"list-questions", "list-task-questions", "get-question", "count-questions", "similar", "list-deciders", "get-receipt",
	}})
	ToAsk          = addVerb(permission{Name: "question.ask", Description: "ask people", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"ask", "ask-outside"}})
	ToHandMessages = addVerb(permission{
		Name: "message.hand", Description: "say which messages an agent read", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true,
		ExtraRule: "the task's own agent, and not a worker's", Operations: []string{"hand-messages"},
	})
	ToAnswer = addVerb(permission{Name: "question.answer", Description: "answer questions", Scopes: decideScopes, Role: RoleResponder, ExtraRule: decideRule, Operations: []string{
		"answer", "answer-many", "prepare-decision", "clarify", "extend", "undo",
	}})
	ToAssign         = addVerb(permission{Name: "question.assign", Description: "assign questions", Scopes: decideScopes, Role: RoleResponder, ExtraRule: "who may answer it, and operators", Operations: []string{"assign"}})
	ToComment        = addVerb(permission{Name: "question.comment", Description: "comment on questions", Scopes: decideScopes, Role: RoleResponder, Operations: []string{"comment"}})
	ToCancelQuestion = addVerb(permission{Name: "question.cancel", Description: "withdraw questions", Scopes: writeScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"cancel-question"}})
)

// Verbs for workers.
var (
	ToClaim   = addVerb(permission{Name: "run.claim", Description: "claim tasks", Scopes: workScopes, Role: RoleResponder, AllowsAgents: true, Operations: []string{"claim", "leave-worker"}})
	ToHoldRun = addVerb(permission{Name: "run.hold", Description: "report on runs", Scopes: workScopes, Role: RoleResponder, AllowsAgents: true, ExtraRule: "the fencing token of the claim", Operations: []string{
		"heartbeat", "append-run-log", "report-run-progress", "finish-run", "release-run",
	}})
	ToAttend = addVerb(permission{Name: "run.attend", Description: "wait for news of runs", Scopes: workScopes, AllowsAgents: true, ExtraRule: "the fencing token of the claim", Operations: []string{"attention"}})
)

// Verbs for gates.
var (
	ToGate     = addVerb(permission{Name: "gate.ask", Description: "ask whether a tool call may run", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, ExtraRule: "in a session, the caller that began it", Operations: []string{"gate"}})
	ToUseGrant = addVerb(permission{Name: "grant.use", Description: "use grants", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, ExtraRule: "the grant itself", Operations: []string{"verify-grant"}})
	// ToReadGrants is for the agent whose action was approved. Anyone who holds a grant may use it.
	ToReadGrants      = addVerb(permission{Name: "grant.read", Description: "be handed grants", Scopes: askScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, ExtraRule: "of a session, the caller that began it"})
	ToReadGateRules   = addVerb(permission{Name: "gate.rules_read", Description: "read the rules of gates", Scopes: readScopes, AllowsAgents: true, Operations: []string{"list-gate-rules"}})
	ToChangeGateRules = addVerb(permission{
		Name: "gate.rules_change", Description: "change the rules of gates", Scopes: decideScopes, Role: RoleOperator, NeedsAdminAssurance: true,
		ExtraRule: "a rule for every project: in every project", Operations: []string{"add-gate-rule", "remove-gate-rule"},
	})
)

// Verbs for events, the audit and analytics.
var (
	ToReadEvents = addVerb(permission{Name: "event.read", Description: "read events", Scopes: readScopes, AllowsAgents: true, Operations: []string{"list-task-events", "stream-events"}})
	ToReadAudit  = addVerb(permission{Name: "audit.read", Description: "read and verify the audit", Scopes: readScopes, ExtraRule: "to export and to verify all of it, sight of every project", Operations: []string{
		"list-audit", "export-audit", "verify-audit", "list-trimmed-ranges", "get-retention",
	}})
	ToReadAnalytics = addVerb(permission{Name: "analytics.read", Description: "read analytics", Scopes: readScopes, AllowsAgents: true, Operations: []string{
		"analytics-summary", "analytics-series", "analytics-questions", "analytics-responders", "analytics-projects",
	}})
)

// Verbs for outgoing messages.
var (
	ToReadDeliveries = addVerb(permission{
		Name: "delivery.read", Description: "read what was sent", Scopes: readScopes, AllowsAgents: true,
		ExtraRule: "one's own with the scope answer; of others, by question, to whom and no content", Operations: []string{"list-deliveries", "get-delivery"},
	})
	ToOverlookDeliveries = addVerb(permission{Name: "delivery.overlook", Description: "see what was sent to others", Scopes: readScopes, Role: RoleOperator, WholeWorkspace: true})
	ToReadContent        = addVerb(permission{
		Name: "delivery.content", Description: "read the content of what was sent to others", Scopes: decideScopes, Role: RoleOperator,
		ExtraRule: "in a browser only; a digest: in every project",
	})
	ToRedeliver = addVerb(permission{
		Name: "delivery.redeliver", Description: "send messages again", Scopes: decideScopes, Role: RoleOperator,
		ExtraRule: "a digest: in every project", Operations: []string{"redeliver"},
	})
	ToManageChannels = addVerb(permission{Name: "channel.manage", Description: "set up channels and routes", Scopes: adminScopes, Role: RoleAdmin, WholeWorkspace: true, Operations: []string{
		"list-channel-kinds", "list-channels", "get-channel", "add-channel", "change-channel", "remove-channel", "test-channel", "set-routes",
	}})
)

// Verbs for workflows.
var (
	ToReadWorkflows = addVerb(permission{Name: "workflow.read", Description: "read workflows, their runs and tools", Scopes: readScopes, AllowsAgents: true, Operations: []string{
		"list-workflows", "get-workflow", "validate-workflow", "list-workflow-runs", "list-runs-of-workflow", "get-workflow-run", "list-tools",
		"list-named-tools", "get-named-tool", "list-mcp-servers", "get-mcp-server",
	}})
	ToDefineWorkflow = addVerb(permission{Name: "workflow.define", Description: "change and test workflows", Scopes: workScopes, Role: RoleOperator, Operations: []string{
		"put-workflow", "test-workflow", "enable-workflow", "disable-workflow", "remove-workflow", "new-webhook-secret",
	}})
	ToStartWorkflow = addVerb(permission{Name: "workflow.start", Description: "start workflows", Scopes: startScopes, Role: RoleResponder, AllowsAgents: true, Operations: []string{"start-workflow"}})
	ToRetryWorkflow = addVerb(permission{Name: "workflow.retry", Description: "retry runs of workflows", Scopes: writeScopes, Role: RoleResponder, AllowsAgents: true, OwnTasksOnly: true, Operations: []string{"retry-workflow-run"}})
	// ToRewindWorkflow needs the same rights as a change of the workflow, because approved steps are done again, or differently.
	ToRewindWorkflow = addVerb(permission{Name: "workflow.rewind", Description: "send runs back to a step, or move them to the newest definition", Scopes: workScopes, Role: RoleOperator, Operations: []string{"rewind-workflow-run", "move-workflow-run"}})
	ToDefineTools    = addVerb(permission{Name: "tool.manage", Description: "change tools", Scopes: workScopes, Role: RoleOperator, WholeWorkspace: true, ExtraRule: "a tool that is an MCP server: as `tool.server`", Operations: []string{
		"put-named-tool", "put-named-tools", "remove-named-tool", "refresh-tool",
	}})
	ToDefineServers = addVerb(permission{Name: "tool.server", Description: "configure MCP servers", Scopes: workScopes, Role: RoleAdmin, WholeWorkspace: true, NeedsAdminAssurance: true, Operations: []string{"put-mcp-server", "remove-mcp-server"}})
)

// Verbs for people and for the workspace.
var (
	ToReadPeople   = addVerb(permission{Name: "people.read", Description: "list people and groups", Scopes: readScopes, AllowsAgents: true, Operations: []string{"list-members", "list-groups"}})
	ToManagePeople = addVerb(permission{Name: "people.manage", Description: "manage people", Scopes: adminScopes, Role: RoleAdmin, WholeWorkspace: true, Operations: []string{
		"add-member", "invite", "list-invitations", "withdraw-invitation", "add-group", "change-group", "delete-group", "set-identity", "remove-identity",
	}})
	ToReadPolicy   = addVerb(permission{Name: "policy.read", Description: "read the policy, the routes and the key for pushes", Scopes: readScopes, AllowsAgents: true, Operations: []string{"get-policy", "get-routes", "get-push-key"}})
	ToChangePolicy = addVerb(permission{Name: "policy.change", Description: "change the policy", Scopes: adminScopes, Role: RoleAdmin, WholeWorkspace: true, Operations: []string{"set-policy"}})
)

// Verbs for a person's own things.
var (
	ToReadOwn = addVerb(permission{Name: "me.read", Description: "read what is a person's own", Scopes: adminScopes, own: ownReads, Operations: []string{
		"get-my-preferences", "get-preferences", "list-identities", "list-my-devices", "list-member-devices", "list-notifications", "list-passkeys", "list-member-passkeys",
		"list-sessions", "list-member-sessions", "list-views",
	}})
	ToChangeOwn = addVerb(permission{Name: "me.change", Description: "change what is a person's own", Scopes: adminScopes, own: ownActs, Operations: []string{
		"change-member", "set-my-preferences", "set-preferences", "test-my-notifications", "add-device", "remove-device", "read-notifications", "snooze",
		"save-view", "delete-view", "end-session", "end-member-sessions", "revoke-answer-links", "sign-out",
	}})
	ToMakeLink = addVerb(permission{
		Name: "me.make_link", Description: "make sign-in links", Scopes: adminScopes, own: ownActs,
		ExtraRule: "a token has every scope that the person has", Operations: []string{"make-sign-in-link"},
	})
	ToMakeTokens = addVerb(permission{
		Name: "token.make", Description: "manage tokens", Scopes: adminScopes, own: ownActs, NeedsSession: true,
		ExtraRule: "one's own has no scope that one has not", Operations: []string{"list-tokens", "create-token", "revoke-token"},
	})
	ToManagePasskeys = addVerb(permission{
		Name: "me.passkeys", Description: "add and remove passkeys", Scopes: adminScopes, own: ownActs, NeedsSession: true,
		ExtraRule: "a fresh sign-in, with a passkey where there is one", Operations: []string{"begin-add-passkey", "end-add-passkey", "remove-passkey"},
	})
	// ToCall is open to everybody, even without sign-in. It discloses nothing.
	ToCall = addVerb(permission{Name: "open", Description: "sign in and read who one is", Scopes: readScopes, AllowsAgents: true, ExtraRule: "without a token as well", Operations: []string{
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

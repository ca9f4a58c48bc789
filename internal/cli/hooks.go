package cli

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Hooks are the commands that need more than the API. The program fills them
// in; a command whose hook is nil says that it is not part of this build.
type Hooks struct {
	Serve   func(context.Context, ServeOptions) error
	Worker  func(context.Context, WorkerOptions) error
	Migrate func(context.Context, MigrateOptions) error
	// AcceptLoss goes on with a database that is behind what was acknowledged.
	AcceptLoss func(context.Context, AcceptLossOptions) error
	// RotateKeys makes a new master key and seals all secrets with it.
	RotateKeys func(context.Context, MigrateOptions) error
	Demo       func(context.Context, DemoOptions) error
	MCP        func(context.Context, MCPOptions) error
	// Rehearse tries an agent program. The error says why it could not be tried.
	Rehearse func(context.Context, RehearseOptions) ([]Rehearsed, error)
	// CheckWorkflow says what is wrong with a definition, without a server.
	CheckWorkflow func(source []byte) client.WorkflowCheck
	// CheckTool says what is wrong with a tool of a workspace.
	CheckTool func(*fermata.NamedTool) error
	// WorkflowSchema is the JSON Schema of definitions.
	WorkflowSchema func() json.RawMessage
	// TestWorkflow runs a definition with scripted answers.
	TestWorkflow func(context.Context, WorkflowTest) (*WorkflowReport, error)
	// Version is what --version prints; empty reads it from the build.
	Version string
}

// ServeOptions are the flags of `fermata serve`.
type ServeOptions struct {
	Listen   string
	Data     string
	Database string
	// MasterKeyFile is as in [MigrateOptions].
	MasterKeyFile string
	// AuditWitnesses are where signed checkpoints of the audit chain are kept, too.
	AuditWitnesses []string
	// SecretProjects are the projects whose workflows may use a secret, by the name of the secret. Commas separate them.
	SecretProjects  map[string]string
	CheckpointEvery time.Duration
	PublicURL       string
	// AllowNetworks are private networks that channels may reach.
	AllowNetworks []string
	// TrustedProxies are networks of proxies in front.
	TrustedProxies []string
	// AllowToolCommands lets the MCP servers of workflows be programs that the
	// server starts.
	AllowToolCommands bool
	AccessOptions
	Workers    int
	SingleUser bool
	// NewAdminToken prints a new admin's token.
	NewAdminToken bool
	LogLevel      string
	LogFormat     string
	// WorkDir and AgentOptions are for the workers inside the server.
	WorkDir string
	AgentOptions
}

// AccessOptions are the flags about how people sign in.
type AccessOptions struct {
	SMTP           string `name:"smtp" env:"FERMATA_SMTP" placeholder:"URL" help:"Server that sends mails: smtp://user:password@host:port; better set in the environment."`
	MailFrom       string `name:"mail-from" env:"FERMATA_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of the mails."`
	IMAP           string `name:"imap" env:"FERMATA_IMAP" placeholder:"URL" help:"Mailbox that replies to questions come to: imaps://user:password@host; better set in the environment."`
	MailReplyTo    string `name:"mail-reply-to" env:"FERMATA_MAIL_REPLY_TO" placeholder:"ADDRESS" help:"Where replies go, such as answers+{token}@example.com (default: the sender)."`
	MailAuthServID string `name:"mail-authserv-id" env:"FERMATA_MAIL_AUTHSERV_ID" placeholder:"NAME" help:"Name with which your mail server begins Authentication-Results: replies count for which it vouches. Without it, replies decide questions of low risk only."`
	OIDCIssuer     string `name:"oidc-issuer" env:"FERMATA_OIDC_ISSUER" placeholder:"URL" help:"Identity provider (OpenID Connect) by which people sign in."`
	OIDCClientID   string `name:"oidc-client-id" env:"FERMATA_OIDC_CLIENT_ID" placeholder:"ID" help:"What this server is called there; its secret is read from FERMATA_OIDC_CLIENT_SECRET."`
	OIDCName       string `name:"oidc-name" env:"FERMATA_OIDC_NAME" placeholder:"NAME" help:"What the button says (default: the host of the issuer)."`
	// OIDCClientSecret is no flag: command lines are seen by everybody.
	OIDCClientSecret string `kong:"-"`
	OIDCTrustEmail   bool   `name:"oidc-trust-email" env:"FERMATA_OIDC_TRUST_EMAIL" help:"Take an address as verified where the identity provider does not say whether it is: only for one that gives addresses to nobody but their owners."`
	// OIDCRoles are the roles of people, by their groups there.
	OIDCRoles       map[string]string `name:"oidc-role" env:"FERMATA_OIDC_ROLES" placeholder:"GROUP=ROLE" help:"Role of the people in a group of the identity provider, such as 'platform team=operator'; several times, or with ; between. It decides at each sign-in there: who is in none of the groups gets the role none."`
	OIDCGroupsClaim string            `name:"oidc-groups-claim" env:"FERMATA_OIDC_GROUPS_CLAIM" placeholder:"NAME" help:"Claim of the ID token that lists the groups (default: groups)."`
}

// IsolationOptions say whether agents run in a sandbox, and what they see there
// beside their working copies.
type IsolationOptions struct {
	On          bool
	Read, Write []string
	Offline     bool
}

// AgentOptions say what a worker runs as its agent.
type AgentOptions struct {
	// Runners are their names; Program is the agent program, where it is not
	// found by its own name.
	Runners []string
	Program string
	// Command is the program of the runner command, else further arguments.
	Command           []string
	AllowTaskCommands bool
	RunTimeout        time.Duration
	// LiveWait is how long an agent of the runner acp is kept alive for an answer.
	LiveWait time.Duration
	// AllowUnknownAgent lets the runner acp run a program that is not known to ask before it acts, without a sandbox.
	AllowUnknownAgent bool
	// Isolation is what agents see of the machine.
	Isolation IsolationOptions
	PassEnv   []string
	// Token is what agents get in FERMATA_TOKEN.
	Token string
}

// WorkerOptions are the flags of `fermata worker`.
type WorkerOptions struct {
	URL, Token string
	Name       string
	Projects   []string
	Agents     []string
	// Concurrency is how many tasks run at the same time.
	Concurrency int
	Lease       time.Duration
	WorkDir     string
	Folder      string
	// OnCompleted is commit or keep, OnFailed rollback or keep.
	OnCompleted, OnFailed string
	// Once stops the worker as soon as there is nothing to claim.
	Once     bool
	LogLevel string
	AgentOptions
}

// MCPOptions are the flags of `fermata mcp`.
type MCPOptions struct {
	URL, Token string
	// Configured reports whether somebody named the server; else one may be
	// started.
	Configured bool
	// Task is the task that questions belong to, and RunID the run of it that calls. Where there is no task, Session
	// is the agent's session, OtherSession that of an agent which names none,
	// and Project the project.
	Task, RunID, Session, OtherSession, Project string
	// AskTool is the name of the tool that asks.
	AskTool string
	// Listen and Data are the address and the folder of a server that is
	// started.
	Listen, Data string
	// ApproveWait is how long a permission prompt waits for a person; less than 0 does not.
	ApproveWait time.Duration
	LogLevel    string
}

// MigrateOptions are the flags of `fermata migrate`.
type MigrateOptions struct {
	Data     string
	Database string
	// MasterKeyFile is the file of the master keys; empty takes the one beside the data folder.
	MasterKeyFile string
}

// AcceptLossOptions are the flags of `fermata accept-loss`.
type AcceptLossOptions struct {
	Data     string
	Database string
	// MasterKeyFile is as in [MigrateOptions].
	MasterKeyFile string
	Yes           bool
}

// DemoOptions are the flags of `fermata demo`.
type DemoOptions struct {
	// Answer answers the demo's question; empty waits for the person.
	Answer string
	// Data is the folder to keep; empty uses one that is removed at the end.
	Data   string
	Listen string
}

func (h Hooks) version() string { return Version(h.Version) }

// Version returns the version that was set, else the one of the build.
func Version(set string) string {
	if set != "" {
		return set
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

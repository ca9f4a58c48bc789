package cli

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Hooks holds the functions of the commands that need more than the API. The program sets them. A command whose hook
// is nil reports that it is not part of this build.
type Hooks struct {
	Serve   func(context.Context, ServeOptions) error
	Worker  func(context.Context, WorkerOptions) error
	Migrate func(context.Context, MigrateOptions) error
	// AcceptLoss accepts a database that lost acknowledged writes.
	AcceptLoss func(context.Context, AcceptLossOptions) error
	// RotateKeys creates a new master key and seals all secrets with it.
	RotateKeys func(context.Context, MigrateOptions) error
	Demo       func(context.Context, DemoOptions) error
	MCP        func(context.Context, MCPOptions) error
	// CheckAgent checks an agent program. The error says why the check could not be run.
	CheckAgent func(context.Context, AgentCheckOptions) ([]AgentCheckResult, error)
	// CheckWorkflow returns the problems of a definition, without a server.
	CheckWorkflow func(source []byte) client.WorkflowCheck
	// CheckTool returns the problems of a tool of a workspace.
	CheckTool func(*fermata.NamedTool) error
	// WorkflowSchema returns the JSON Schema of definitions.
	WorkflowSchema func() json.RawMessage
	// SimulateWorkflow runs a definition with scripted answers.
	SimulateWorkflow func(context.Context, SimulationInput) (*SimulationReport, error)
	// Version is the version that --version prints. If it is empty, the build information gives it.
	Version string
}

// ServeOptions holds the options of `fermata serve`.
type ServeOptions struct {
	Listen   string
	Data     string
	Database string
	// MasterKeyFile is as in [MigrateOptions].
	MasterKeyFile string
	// AuditWitnesses are further places that keep the signed audit checkpoints.
	AuditWitnesses []string
	// SecretProjects maps the name of a secret to the projects whose workflows may use it, separated by commas.
	SecretProjects  map[string]string
	CheckpointEvery time.Duration
	PublicURL       string
	// AllowNetworks are the private networks that channels may reach.
	AllowNetworks []string
	// TrustedProxies are the networks of proxies in front of the server.
	TrustedProxies []string
	// AllowToolCommands allows workflows to use MCP servers that are programs on this machine. The server starts them.
	AllowToolCommands bool
	AccessOptions
	Workers    int
	SingleUser bool
	// NewAdminToken creates and prints a new token of the admin.
	NewAdminToken bool
	LogLevel      string
	LogFormat     string
	// WorkDir and AgentOptions are for the workers inside the server.
	WorkDir string
	AgentOptions
}

// AccessOptions holds the flags about how people sign in.
type AccessOptions struct {
	SMTP           string `name:"smtp" env:"FERMATA_SMTP" placeholder:"URL" help:"Server that sends mails: smtp://user:password@host:port; better set in the environment."`
	MailFrom       string `name:"mail-from" env:"FERMATA_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of the mails."`
	IMAP           string `name:"imap" env:"FERMATA_IMAP" placeholder:"URL" help:"Mailbox that replies to questions come to: imaps://user:password@host; better set in the environment."`
	MailReplyTo    string `name:"mail-reply-to" env:"FERMATA_MAIL_REPLY_TO" placeholder:"ADDRESS" help:"Where replies go, such as answers+{token}@example.com (default: the sender)."`
	MailAuthServID string `name:"mail-authserv-id" env:"FERMATA_MAIL_AUTHSERV_ID" placeholder:"NAME" help:"Name with which your mail server begins Authentication-Results: replies count for which it vouches. Without it, replies decide questions of low risk only."`
	OIDCIssuer     string `name:"oidc-issuer" env:"FERMATA_OIDC_ISSUER" placeholder:"URL" help:"Identity provider (OpenID Connect) by which people sign in."`
	OIDCClientID   string `name:"oidc-client-id" env:"FERMATA_OIDC_CLIENT_ID" placeholder:"ID" help:"What this server is called there; its secret is read from FERMATA_OIDC_CLIENT_SECRET."`
	OIDCName       string `name:"oidc-name" env:"FERMATA_OIDC_NAME" placeholder:"NAME" help:"What the button says (default: the host of the issuer)."`
	// OIDCClientSecret is not a flag, because every user of the machine can see command lines.
	OIDCClientSecret string `kong:"-"`
	OIDCTrustEmail   bool   `name:"oidc-trust-email" env:"FERMATA_OIDC_TRUST_EMAIL" help:"Take an address as verified where the identity provider does not say whether it is: only for one that gives addresses to nobody but their owners."`
	// OIDCRoles maps groups of the identity provider to roles.
	OIDCRoles       map[string]string `name:"oidc-role" env:"FERMATA_OIDC_ROLES" placeholder:"GROUP=ROLE" help:"Role of the people in a group of the identity provider, such as 'platform team=operator'; several times, or with ; between. It decides at each sign-in there: who is in none of the groups gets the role none."`
	OIDCGroupsClaim string            `name:"oidc-groups-claim" env:"FERMATA_OIDC_GROUPS_CLAIM" placeholder:"NAME" help:"Claim of the ID token that lists the groups (default: groups)."`
}

// IsolationOptions says whether agents run in a sandbox, and what they see there besides their working copies.
type IsolationOptions struct {
	On          bool
	Read, Write []string
	Offline     bool
}

// AgentOptions holds the options of a worker's agents.
type AgentOptions struct {
	// Runners are the names of the runners. Program is the agent program, if it is not found by its own name.
	Runners []string
	Program string
	// Command is the program of the runner "command". For other runners it holds further arguments.
	Command           []string
	AllowTaskCommands bool
	RunTimeout        time.Duration
	// LiveWait is how long an agent of the runner acp stays alive while it waits for an answer.
	LiveWait time.Duration
	// AllowUnknownAgent allows the runner acp to run a program without a sandbox, even if Fermata does not know that
	// the program asks before it acts.
	AllowUnknownAgent bool
	// Isolation is what agents see of the machine.
	Isolation IsolationOptions
	PassEnv   []string
	// Token is the token that agents get in FERMATA_TOKEN.
	Token string
}

// WorkerOptions holds the options of `fermata worker`.
type WorkerOptions struct {
	URL, Token string
	Name       string
	Projects   []string
	Agents     []string
	// Concurrency is the largest number of tasks that run at the same time.
	Concurrency int
	Lease       time.Duration
	WorkDir     string
	Folder      string
	// OnCompleted is commit or keep. OnFailed is rollback or keep.
	OnCompleted, OnFailed string
	// Once stops the worker as soon as there is nothing to claim.
	Once     bool
	LogLevel string
	AgentOptions
}

// MCPOptions holds the options of `fermata mcp`.
type MCPOptions struct {
	URL, Token string
	// Configured reports whether the user named the server. If not, the command may start one.
	Configured bool
	// Task is the task that the questions belong to, and RunID is the run of it that calls. If there is no task,
	// Session is the agent's session, OtherSession is the session of an agent that names none, and Project is the
	// project.
	Task, RunID, Session, OtherSession, Project string
	// AskTool is the name of the tool that asks.
	AskTool string
	// Listen and Data are the address and the data folder of a server that the command starts.
	Listen, Data string
	// ApproveWait is how long a permission prompt waits for a person. If it is negative, the prompt does not wait.
	ApproveWait time.Duration
	LogLevel    string
}

// MigrateOptions holds the options of `fermata migrate`.
type MigrateOptions struct {
	Data     string
	Database string
	// MasterKeyFile is the file with the master keys. If it is empty, the file beside the data folder is used.
	MasterKeyFile string
}

// AcceptLossOptions holds the options of `fermata accept-loss`.
type AcceptLossOptions struct {
	Data     string
	Database string
	// MasterKeyFile is as in [MigrateOptions].
	MasterKeyFile string
	Yes           bool
}

// DemoOptions holds the options of `fermata demo`.
type DemoOptions struct {
	// Answer is the answer to the demo's question. If it is empty, the demo waits for the person.
	Answer string
	// Data is the data folder. If it is empty, the demo uses a temporary folder and removes it at the end.
	Data   string
	Listen string
}

func (h Hooks) version() string { return Version(h.Version) }

// Version returns the version that was set, or else the version of the build.
func Version(set string) string {
	if set != "" {
		return set
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// Catalog describes the names that exist where a workflow is loaded.
type Catalog struct {
	// Tools are the tools by name. The tools that every engine has may be left out. They get the schema of [ToolInput]
	// if theirs is empty.
	Tools map[string]tool.Info
	// AllowUnknownTools makes an unknown tool a warning, because there is no server to ask.
	AllowUnknownTools bool
	// WasChecked says that the definition was accepted before, so that only its run counts. What foretells that a step fails
	// is not checked again: a newer server must not refuse a run for a rule that it has added.
	WasChecked bool
	// DelegatedTools names the tools of the workspace that workers run. Their input becomes a task, which people can read,
	// and which takes time.
	DelegatedTools []string
	// CommandTools names those of DelegatedTools that are commands.
	CommandTools []string
	// UnlistedServers names the MCP servers whose tools could not be listed. An unknown tool of such a server, as server.tool,
	// is a warning.
	UnlistedServers []string
	// NeededInputs holds the inputs that the prompts and commands of the workspace's own tools need, by the name of the tool.
	NeededInputs map[string]NeededInputs
	// CheckSecretUse returns an error if workflows of a project may not use a secret. If it is nil, every project may use every
	// secret.
	CheckSecretUse func(project, secret string) *fermata.Error
	// InputsOf returns the inputs of another workflow. If the project has no workflow of that name, names holds the
	// names of the workflows that it has, and is not nil. After an error the loader does not check the inputs, but the
	// run checks them. InputsOf is nil if no server is asked.
	InputsOf func(project, name string) (inputs []Input, names []string, err error)
	// Policy is the policy of the workspace. It is nil if no server is asked.
	Policy *fermata.Policy
	// Channels are the names and kinds of channels that questions may name; nil if they are not known. UnusedKinds are
	// the kinds of which the workspace has no enabled channel.
	Channels, UnusedKinds []string
}

// NeededInputs holds the inputs that a tool needs: RunInputs of the workflow, and StepInputs of the step.
type NeededInputs struct{ RunInputs, StepInputs []string }

// Load parses a definition and returns all its problems, in the order of lines. The workflow is nil if one of the
// problems is not a warning.
func Load(source []byte, known Catalog) (*Workflow, []Problem) {
	l := &loader{
		report: &report{wasChecked: known.WasChecked}, known: known, w: &Workflow{MaxIterations: 5}, ids: map[string]int{}, outputs: map[string]int{},
		injected: map[string]*tree{}, secrets: map[string]bool{}, schemas: map[string]toolSchema{},
	}
	l.load(source)
	l.restore()
	if l.hasErrors() {
		return nil, l.finish()
	}
	l.w.Secrets = slices.Sorted(maps.Keys(l.secrets))
	return l.w, l.finish()
}

// Hash returns the hash by which a definition is stored: the SHA-256 of its bytes in hex.
func Hash(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// loader turns a tree into a workflow. Values that do not fit the schema are reported first. The later parts read what
// they can and do not report such a value again.
type loader struct {
	*report
	known Catalog
	w     *Workflow
	root  *tree
	// steps are the trees of w.Steps, and paths are their paths in the file.
	steps []*tree
	paths []string
	// ids and outputs hold the index of a step by its id and by the name of its output. injected holds the trees of the
	// injected values by name.
	ids       map[string]int
	outputs   map[string]int
	injected  map[string]*tree
	secrets   map[string]bool
	schemas   map[string]toolSchema
	usages    []usage
	backJumps []jump
}

func (l *loader) load(source []byte) {
	if l.root = l.read(source); l.root == nil {
		return
	}
	if l.root.mapping() == nil {
		if !l.root.isUnreadable() {
			l.addAt(l.root, "", "begin with name: and steps:", "the file must be an object, and is %s", kindOf(l.root))
		}
		return
	}
	(&schemaChecker{report: l.report, root: l.root}).check(ownSchema(""), l.root.plainValue())
	l.head()
	l.readNames()
	l.readNeeds()
	l.triggers()
	l.concurrency()
	for i := range l.w.Steps {
		l.step(i)
	}
	l.w.OnResume = l.resume(l.root.get("on_resume"), "on_resume", MainPhase)
	l.w.OnTimeout = l.timeoutAction(l.root.get("on_timeout"), "on_timeout", l.scopeOf(nil), MainPhase)
	l.checkFlow()
	l.checkIssues()
	l.checkExpressions()
	l.w.CommentsOnFailure = l.root.get(string(OnFailure)) == nil
}

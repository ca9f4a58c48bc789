package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// Known is what the place a workflow is loaded in knows.
type Known struct {
	// Tools are the tools by name. The tools that every engine has need not be
	// among them, and get the schema of [ToolInput] when theirs is empty.
	Tools map[string]tool.Info
	// AnyTool makes a tool that is not known a warning: there is no server to
	// ask.
	AnyTool bool
	// Delegated names the tools of the workspace that workers run: what they are
	// given becomes a task, which people read and which takes its time.
	Delegated []string
	// Unlisted names the servers of tools that could not be asked for their
	// list; a tool of theirs, as server.tool, is a warning.
	Unlisted []string
	// Reads says what the prompts and commands of the workspace's own tools need, by the
	// name of the tool.
	Reads map[string]Reads
	// MayUse refuses a secret to the workflows of a project; it is nil where every project may use every secret.
	MayUse func(project, secret string) *fermata.Error
	// InputsOf returns the inputs of another workflow. If the project has no workflow of that name, names are the workflows that it
	// has, and not nil. After an error the loader checks no inputs, and the run will. InputsOf is nil where no server is asked.
	InputsOf func(project, name string) (inputs []Input, names []string, err error)
	// Policy is the policy of the workspace. It is nil where no server is asked.
	Policy *fermata.Policy
	// Channels are the names and the kinds of channels that questions may name; nil where
	// nobody knows. UnusedKinds are the kinds of which the workspace has no channel that is switched on.
	Channels, UnusedKinds []string
}

// Reads is what a tool needs of the run that uses it: Inputs of its workflow, and fields
// of the Input of its step.
type Reads struct{ Inputs, Input []string }

// Load reads a definition and returns everything that is wrong with it, in the
// order of lines. The workflow is nil when one of the problems is no warning.
func Load(source []byte, known Known) (*Workflow, []Problem) {
	l := &loader{
		report: &report{}, known: known, w: &Workflow{MaxIterations: 5}, ids: map[string]int{}, outputs: map[string]int{},
		injected: map[string]*tree{}, secrets: map[string]bool{}, schemas: map[string]toolSchema{},
	}
	l.load(source)
	l.restore()
	if l.hasErrors() {
		return nil, l.sortProblems()
	}
	l.w.Secrets = slices.Sorted(maps.Keys(l.secrets))
	return l.w, l.sortProblems()
}

// Hash returns the name of a definition: the SHA-256 of its bytes in hex.
func Hash(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// loader turns a tree into a workflow. What does not fit the schema was
// reported when it comes to the parts: they take what they can read and say
// nothing twice.
type loader struct {
	*report
	known Known
	w     *Workflow
	root  *tree
	// steps are the trees of w.Steps, and paths where they stand.
	steps []*tree
	paths []string
	// ids and outputs lead to steps by their names, injected to the trees of
	// the values.
	ids      map[string]int
	outputs  map[string]int
	injected map[string]*tree
	secrets  map[string]bool
	schemas  map[string]toolSchema
	uses     []use
	backward []jump
}

func (l *loader) load(source []byte) {
	if l.root = l.read(source); l.root == nil {
		return
	}
	if l.root.mapping() == nil {
		if !l.root.unreadable() {
			l.addAt(l.root, "", "begin with name: and steps:", "the file must be an object, and is %s", kindOf(l.root))
		}
		return
	}
	(&fit{report: l.report, root: l.root}).fits(ownSchema(""), l.root.plainValue())
	l.head()
	l.names()
	l.needs()
	l.triggers()
	l.concurrency()
	for i := range l.w.Steps {
		l.step(i)
	}
	l.w.OnResume = l.resume(l.root.get("on_resume"), "on_resume", MainPhase)
	l.w.OnTimeout = l.action(l.root.get("on_timeout"), "on_timeout", l.scopeOf(nil), MainPhase)
	l.flow()
	l.issues()
	l.checkExpressions()
	l.w.Tells = l.root.get(string(OnFailure)) == nil
}

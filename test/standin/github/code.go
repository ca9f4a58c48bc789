package github

import (
	"crypto/sha1" //nolint:gosec // as git does
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Base is the branch from which new branches start.
const Base = "main"

// code is the content of the repository: branches with their commits, pull
// requests, and checks of commits.
type code struct {
	origin   string              // a git repository that it mirrors
	branches map[string][]string // their commits; the last one is the head of the branch
	pulls    map[int]*pull
	runs     map[string][]checkRun // by commit
	statuses map[string][]status
}

type pull struct {
	title, body, head, base, state string
	draft                          bool
	by                             *user
	updated                        time.Time
}

type checkRun struct{ name, status, conclusion string }

type status struct{ context, state string }

func newCode() code {
	c := code{branches: map[string][]string{}, pulls: map[int]*pull{}, runs: map[string][]checkRun{}, statuses: map[string][]status{}}
	c.branches[Base] = []string{sha("the first commit")}
	return c
}

func sha(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as git does
	return hex.EncodeToString(sum[:])
}

// Push adds a commit to a branch and returns it. A new branch starts at Base.
func (s *Server) Push(branch string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code.branches[branch] == nil {
		s.code.branches[branch] = slices.Clone(s.code.branches[Base])
	}
	s.lastID++
	commit := sha(branch + strconv.FormatInt(s.lastID, 10))
	s.code.branches[branch] = append(s.code.branches[branch], commit)
	return commit
}

// SetCheckRun sets an App's check run of a commit.
func (s *Server) SetCheckRun(commit, name, state, conclusion string) {
	s.set(func() {
		s.code.runs[commit] = slices.DeleteFunc(s.code.runs[commit], func(r checkRun) bool { return r.name == name })
		s.code.runs[commit] = append(s.code.runs[commit], checkRun{name, state, conclusion})
	})
}

// AddCommitStatus adds a program's status of a commit.
func (s *Server) AddCommitStatus(commit, context, state string) {
	s.set(func() { s.code.statuses[commit] = append(s.code.statuses[commit], status{context, state}) })
}

// ClosePull closes a pull request.
func (s *Server) ClosePull(number int) { s.set(func() { s.code.pulls[number].state = "closed" }) }

// PullBodies returns the texts of all pull requests, by number.
func (s *Server) PullBodies() map[int]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[int]string{}
	for n, p := range s.code.pulls {
		all[n] = p.body
	}
	return all
}

// BranchAt returns the head commit of a branch. It is empty if there is no such
// branch.
func (s *Server) BranchAt(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code.head(name)
}

func (c *code) head(branch string) string {
	commits := c.branches[branch]
	if len(commits) == 0 {
		return ""
	}
	return commits[len(commits)-1]
}

// commit returns the commit that a branch, a ref or a commit id names.
func (c *code) commit(ref string) string {
	if at := c.head(strings.TrimPrefix(ref, "heads/")); at != "" {
		return at
	}
	for _, commits := range c.branches {
		if slices.Contains(commits, ref) {
			return ref
		}
	}
	return ""
}

// codeRoutes adds the routes of branches, pull requests and checks.
func (s *Server) codeRoutes(handle func(string, func(*call) (int, any))) {
	const repo = "/repos/{owner}/{repo}"
	handle("PATCH "+repo+"/issues/{number}", s.patchIssue)
	handle("GET "+repo+"/git/ref/{ref...}", s.getRef)
	handle("POST "+repo+"/git/refs", s.postRef)
	handle("GET "+repo+"/commits/{rest...}", s.getCommit)
	handle("GET "+repo+"/pulls", s.getPulls)
	handle("POST "+repo+"/pulls", s.postPull)
	handle("GET "+repo+"/pulls/{number}", s.getPull)
}

// hasPermission reports whether the caller has a permission. An App needs it by name; a
// person needs write access.
func (s *Server) hasPermission(c *call, permission, level string) bool {
	if !c.by.app {
		return level == "read" || s.canWrite(c)
	}
	has := s.permissions[permission]
	return has == level || has == "write"
}

func (s *Server) deny(c *call) (int, any) {
	by := "personal access token"
	if c.by.app {
		by = "integration"
	}
	return http.StatusForbidden, message("Resource not accessible by " + by)
}

// validationFailed returns GitHub's response to invalid input. Each fault has a field
// and a code, or a message of its own.
func validationFailed(faults ...map[string]string) (int, any) {
	return http.StatusUnprocessableEntity, map[string]any{
		"message": "Validation Failed", "errors": faults, "documentation_url": "https://docs.github.com/rest",
	}
}

func (s *Server) patchIssue(c *call) (int, any) {
	n, i := s.issue(c)
	if i == nil {
		return http.StatusNotFound, message("Not Found")
	}
	if !s.hasPermission(c, "issues", "write") {
		return s.deny(c)
	}
	var sent struct {
		State  string `json:"state"`
		Reason string `json:"state_reason"`
	}
	if json.NewDecoder(c.Body).Decode(&sent) != nil || !slices.Contains([]string{"", "open", "closed"}, sent.State) {
		return validationFailed(map[string]string{"resource": "Issue", "field": "state", "code": "invalid"})
	}
	i.state, i.reason = sent.State, sent.Reason
	return http.StatusOK, s.wireIssue(n, i)
}

func wireRef(name, commit string) map[string]any {
	return map[string]any{"ref": "refs/heads/" + name, "object": map[string]string{"type": "commit", "sha": commit}}
}

func (s *Server) getRef(c *call) (int, any) {
	name, heads := strings.CutPrefix(c.PathValue("ref"), "heads/")
	at := s.code.head(name)
	if !s.isKnownRepository(c) || !heads || at == "" {
		return http.StatusNotFound, message("Not Found")
	}
	return http.StatusOK, wireRef(name, at)
}

// branchRef approximates git's rules for names of branches.
var branchRef = regexp.MustCompile(`^refs/heads/[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func (s *Server) postRef(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	if !s.hasPermission(c, "contents", "write") {
		return s.deny(c)
	}
	var sent struct{ Ref, SHA string }
	_ = json.NewDecoder(c.Body).Decode(&sent)
	name := strings.TrimPrefix(sent.Ref, "refs/heads/")
	switch {
	case !branchRef.MatchString(sent.Ref):
		return http.StatusUnprocessableEntity, message("Reference name is not well formed")
	case s.code.head(name) != "":
		return http.StatusUnprocessableEntity, message("Reference already exists")
	case s.code.commit(sent.SHA) != sent.SHA:
		return http.StatusUnprocessableEntity, message("Object does not exist")
	}
	for _, commits := range s.code.branches {
		if i := slices.Index(commits, sent.SHA); i >= 0 {
			s.code.branches[name] = slices.Clone(commits[:i+1])
			break
		}
	}
	return http.StatusCreated, wireRef(name, sent.SHA)
}

// getCommit serves commits/REF, commits/REF/check-runs and commits/REF/status.
// A ref may contain slashes.
func (s *Server) getCommit(c *call) (int, any) {
	ref, about := c.PathValue("rest"), ""
	for _, end := range []string{"check-runs", "status"} {
		if before, ok := strings.CutSuffix(ref, "/"+end); ok {
			ref, about = before, end
		}
	}
	at := s.code.commit(ref)
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	if at == "" {
		return http.StatusUnprocessableEntity, message("No commit found for SHA: " + ref)
	}
	switch about {
	case "check-runs":
		return s.getCheckRuns(c, at)
	case "status":
		return s.getStatus(c, at)
	}
	return http.StatusOK, plainText(at)
}

// plainText is a response body that is sent unchanged.
type plainText string

func (s *Server) getCheckRuns(c *call, commit string) (int, any) {
	if !s.hasPermission(c, "checks", "read") {
		return s.deny(c)
	}
	list := []map[string]any{}
	for i, r := range s.code.runs[commit] {
		w := map[string]any{
			"id": i + 1, "name": r.name, "status": r.status, "conclusion": nil, "head_sha": commit,
			"html_url": fmt.Sprintf("%s/%s/runs/%d", s.URL, Repository, i+1),
		}
		if r.conclusion != "" {
			w["conclusion"] = r.conclusion
		}
		list = append(list, w)
	}
	return http.StatusOK, map[string]any{"total_count": len(list), "check_runs": list}
}

// getStatus returns the latest status of each context.
func (s *Server) getStatus(c *call, commit string) (int, any) {
	if !s.hasPermission(c, "statuses", "read") {
		return s.deny(c)
	}
	list := []map[string]any{}
	seen := map[string]bool{}
	for _, one := range slices.Backward(s.code.statuses[commit]) {
		if !seen[one.context] {
			seen[one.context] = true
			list = append(list, map[string]any{"context": one.context, "state": one.state, "target_url": nil})
		}
	}
	return http.StatusOK, map[string]any{"state": "pending", "sha": commit, "total_count": len(list), "statuses": list}
}

// SetOrigin makes the stand-in mirror the git repository in a directory.
// Everything that is pushed there appears here.
func (s *Server) SetOrigin(folder string) { s.set(func() { s.code.origin = folder }) }

// mirror reads the branches of the origin.
func (c *code) mirror() {
	if c.origin == "" {
		return
	}
	c.branches = map[string][]string{}
	for _, branch := range c.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads") {
		c.branches[branch] = c.git("rev-list", "--reverse", "refs/heads/"+branch)
	}
}

// git runs git in the origin and returns the words that it prints.
func (c *code) git(args ...string) []string {
	out, err := exec.Command("git", append([]string{"-C", c.origin}, args...)...).Output() //nolint:noctx // it ends at once
	if err != nil {
		panic(fmt.Sprintf("git %v: %v", args, err))
	}
	return strings.Fields(string(out))
}

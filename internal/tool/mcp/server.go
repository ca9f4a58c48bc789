package mcp

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/tool"
)

// Server says how an MCP server is reached: at a URL, or as a program that is
// started here. If the value of a header or a variable is env:NAME, it is read
// from the environment of this process.
type Server struct {
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

var (
	// serverName allows no dot, because the name of a tool has the server's
	// name before its first dot.
	serverName   = lazyregexp.New(`^[a-z][a-z0-9_-]{0,63}$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Check returns all problems of a server of this name.
func (s Server) Check(name string) []fermata.Problem {
	var list []fermata.Problem
	add := func(field, format string, args ...any) {
		list = append(list, fermata.Problem{Field: "mcp_servers." + name + field, Message: fmt.Sprintf(format, args...)})
	}
	if !serverName().MatchString(name) {
		add("", "a name begins with a small letter and has small letters, digits, - and _")
	}
	switch {
	case (s.URL == "") == (len(s.Command) == 0):
		add("", "needs either url or command")
	case s.URL != "":
		if _, err := outbound.ParseURL("url", s.URL); err != nil {
			add(".url", "%s", strings.TrimPrefix(err.Error(), "url: "))
		}
		if len(s.Env) > 0 {
			add(".env", "is allowed only with command")
		}
	default:
		if strings.TrimSpace(s.Command[0]) == "" {
			add(".command", "names no program")
		}
		if len(s.Headers) > 0 {
			add(".headers", "is allowed only with url")
		}
	}
	for header, value := range s.Headers {
		if !httpguts.ValidHeaderFieldName(header) || !httpguts.ValidHeaderFieldValue(value) {
			add(".headers", "%q is no valid header", header)
		}
	}
	for variable := range s.Env {
		if !variableName().MatchString(variable) {
			add(".env", "%q is no name of a variable", variable)
		}
	}
	slices.SortFunc(list, func(a, b fermata.Problem) int { return strings.Compare(a.Field+a.Message, b.Field+b.Message) })
	return list
}

// headers returns the headers of every request.
func (s Server) headers() (http.Header, error) {
	all := http.Header{}
	for name, value := range s.Headers {
		resolvedValue, err := resolveEnv("headers."+name, value)
		if err != nil {
			return nil, err
		}
		all.Set(name, resolvedValue)
	}
	return all, nil
}

// environ returns the environment of the program: the usual variables, and
// those of the configuration.
func (s Server) environ() ([]string, error) {
	all := process.Environ(nil)
	for name, value := range s.Env {
		resolvedValue, err := resolveEnv("env."+name, value)
		if err != nil {
			return nil, err
		}
		all = append(all, name+"="+resolvedValue)
	}
	return all, nil
}

// resolveEnv returns a value, which it reads from the environment if it is
// env:NAME.
func resolveEnv(field, value string) (string, error) {
	name, ok := strings.CutPrefix(value, "env:")
	if !ok {
		return value, nil
	}
	if resolvedValue := os.Getenv(name); resolvedValue != "" {
		return resolvedValue, nil
	}
	return "", tool.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "%s: the server has no environment variable %s", field, name).
		WithHint("set %s where fermata serve is started, and start it again", name))
}

package install

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/fermata-hq/fermata/internal/cli/hook"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// The marks around Fermata's part in a TOML file. They may be missing, because Codex drops comments when it writes the
// file.
const (
	blockBegin = "# >>> fermata: written by fermata install, removed by fermata install --remove"
	blockEnd   = "# <<< fermata"
)

// tomlFile returns the configFile of Codex's configuration. Fermata's part is added as a block, so that no byte of the
// rest changes. If the part exists, only the command that starts the server is updated, with its arguments.
func tomlFile(path, program string, args []string) configFile {
	return configFile{path: path, edit: func(content []byte, remove bool) ([]byte, error) {
		server, err := serverOf(content)
		if err != nil {
			return nil, err
		}
		switch {
		case server == nil && remove:
			return nilIfEmpty(removeMarks(content), content), nil
		case server == nil:
			return addBlock(removeMarks(content), program, args)
		case !server.isOwn() && remove:
			return content, nil
		case !server.isOwn():
			return nil, fmt.Errorf("mcp_servers.%s is there already, and was not written by fermata install; rename or remove it first", hook.OwnServerName)
		case !remove && server.Command == program && slices.Equal(server.Args, args):
			return content, nil
		}
		from, to := findPart(content)
		if to == 0 {
			return nil, fmt.Errorf("mcp_servers.%s is written in a way that cannot be changed; remove it by hand, or write it as [mcp_servers.%s]", hook.OwnServerName, hook.OwnServerName)
		}
		if remove {
			return nilIfEmpty(removeMarks(cutPart(content, from, to)), content), nil
		}
		part := commandPattern().ReplaceAllLiteral(content[from:to], []byte(commandLine(program)))
		part = argsPattern().ReplaceAllLiteral(part, []byte(argsLine(args)))
		return slices.Concat(content[:from], part, content[to:]), nil
	}}
}

// tomlServer is the MCP server with Fermata's name in the file.
type tomlServer struct {
	Command string   `toml:"command"`
	Args    []string `toml:"args"`
}

// isOwn reports whether the server is Fermata's. It checks the command that starts the server.
func (s *tomlServer) isOwn() bool { return isOwnCommand(s.Command, s.Args) }

func commandLine(program string) string { return "command = " + strconv.Quote(program) }

func argsLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = strconv.Quote(arg)
	}
	return "args = [" + strings.Join(quoted, ", ") + "]"
}

// serverOf returns the server with Fermata's name, or nil.
func serverOf(content []byte) (*tomlServer, error) {
	var have struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(content, &have); err != nil {
		return nil, fmt.Errorf("is not TOML: %w", err)
	}
	if _, ok := have.Servers[hook.OwnServerName]; !ok {
		return nil, nil
	}
	var servers struct {
		Servers struct {
			Own tomlServer `toml:"fermata"`
		} `toml:"mcp_servers"`
	}
	// A server of another kind belongs to another author.
	_ = toml.Unmarshal(content, &servers)
	return &servers.Servers.Own, nil
}

// addBlock adds Fermata's part at the end, after a blank line if the rest ends with a line end.
func addBlock(rest []byte, program string, args []string) ([]byte, error) {
	out := bytes.Clone(rest)
	if len(out) > 0 {
		out = append(out, '\n')
	}
	out = append(out, strings.Join([]string{
		blockBegin, "[mcp_servers." + hook.OwnServerName + "]", commandLine(program), argsLine(args),
		"# Asking may wait for a person.", "tool_timeout_sec = 3600", blockEnd, "",
	}, "\n")...)
	if _, err := serverOf(out); err != nil {
		return nil, fmt.Errorf("mcp_servers is written there in a way that nothing can be added to; write it as [mcp_servers.NAME]: %w", err)
	}
	return out, nil
}

var (
	ownTablePattern  = lazyregexp.New(`(?m)^\[mcp_servers\.("?)` + hook.OwnServerName + `("?)[\].]`)
	anyTablePattern  = lazyregexp.New(`(?m)^\[`)
	lastValuePattern = lazyregexp.New(`(?m)^[ \t]*[^\s#].*\n?`)
	commandPattern   = lazyregexp.New(`(?m)^command = .*$`)
	argsPattern      = lazyregexp.New(`(?m)^args = \[.*\]$`)
)

// findPart returns where Fermata's part begins and ends. The part is the block between the marks if no other table is
// inside it, or else the tables of the server.
func findPart(content []byte) (from, to int) {
	if begin := bytes.Index(content, []byte(blockBegin)); begin >= 0 {
		if length := bytes.Index(content[begin:], []byte(blockEnd)); length >= 0 {
			block := content[begin : begin+length]
			if len(anyTablePattern().FindAll(block, -1)) == len(ownTablePattern().FindAll(block, -1)) {
				return begin, lineEnd(content, begin+length)
			}
		}
	}
	at := ownTablePattern().FindIndex(content)
	if at == nil {
		return 0, 0
	}
	for next := at; next != nil; {
		to += next[0]
		table := content[to:]
		if other := anyTablePattern().FindIndex(table[1:]); other != nil {
			table = table[:other[0]+1]
		}
		values := lastValuePattern().FindAllIndex(table, -1)
		to += values[len(values)-1][1]
		// Only blank lines may stand between this table and the next table of the server.
		blank := len(content[to:]) - len(bytes.TrimLeft(content[to:], "\r\n \t"))
		if next = ownTablePattern().FindIndex(content[to:]); next != nil && next[0] != blank {
			next = nil
		}
	}
	return at[0], to
}

// lineEnd returns the end of the line that contains the position.
func lineEnd(content []byte, at int) int {
	if length := bytes.IndexByte(content[at:], '\n'); length >= 0 {
		return at + length + 1
	}
	return len(content)
}

// cutPart removes a part, with the line end before it.
func cutPart(content []byte, from, to int) []byte {
	if from > 0 {
		from--
	}
	return slices.Concat(content[:from], content[to:])
}

// removeMarks removes marks without a block.
func removeMarks(content []byte) []byte {
	var out []byte
	for line := range bytes.Lines(content) {
		if text := string(bytes.TrimRight(line, "\r\n")); text != blockBegin && text != blockEnd {
			out = append(out, line...)
		}
	}
	return out
}

// nilIfEmpty returns nil, which removes the file, if the file held only Fermata's part.
func nilIfEmpty(rest, content []byte) []byte {
	if len(rest) == 0 && len(content) > 0 {
		return nil
	}
	return rest
}

package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// The marks around what is Fermata's in a TOML file.
const (
	blockBegin = "# >>> fermata: written by fermata install, removed by fermata install --remove"
	blockEnd   = "# <<< fermata"
)

// tomlFile is the configuration of Codex. Fermata's part is a block between
// two marks, so that not a byte of the rest changes.
func tomlFile(path, program string) configFile {
	return configFile{path: path, edit: func(content []byte, remove bool) ([]byte, error) {
		rest, err := withoutBlock(content)
		if err != nil {
			return nil, err
		}
		if remove {
			if len(rest) == 0 && len(content) > 0 {
				return nil, nil
			}
			return rest, nil
		}
		var have struct {
			Servers map[string]any `toml:"mcp_servers"`
		}
		if err := toml.Unmarshal(rest, &have); err != nil {
			return nil, fmt.Errorf("is not TOML: %w", err)
		}
		if _, taken := have.Servers[ownServer]; taken {
			return nil, fmt.Errorf("mcp_servers.%s is there already, and was not written by fermata install; rename or remove it first", ownServer)
		}
		out := bytes.Clone(rest)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		out = append(out, block(program, len(rest) > 0)...)
		if err := toml.Unmarshal(out, &have); err != nil {
			return nil, fmt.Errorf("mcp_servers is written there in a way that nothing can be added to; write it as [mcp_servers.NAME]: %w", err)
		}
		return out, nil
	}}
}

// block is Fermata's part.
func block(program string, apart bool) string {
	lines := []string{
		blockBegin, "[mcp_servers." + ownServer + "]", "command = " + strconv.Quote(program), `args = ["mcp"]`,
		"# Asking may wait for a person.", "tool_timeout_sec = 3600", blockEnd, "",
	}
	text := strings.Join(lines, "\n")
	if apart {
		text = "\n" + text
	}
	return text
}

// withoutBlock takes Fermata's part out.
func withoutBlock(content []byte) ([]byte, error) {
	begin := bytes.Index(content, []byte(blockBegin))
	if begin < 0 {
		return content, nil
	}
	length := bytes.Index(content[begin:], []byte(blockEnd))
	if length < 0 {
		return nil, fmt.Errorf("the line %q is missing behind %q; put it back, or remove the block by hand", blockEnd, blockBegin)
	}
	end := begin + length + len(blockEnd)
	if end < len(content) && content[end] == '\n' {
		end++
	}
	if begin > 1 && content[begin-1] == '\n' && content[begin-2] == '\n' {
		// The empty line that stands it apart.
		begin--
	}
	return append(bytes.Clone(content[:begin]), content[end:]...), nil
}

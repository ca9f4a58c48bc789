package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Names of workflows, of tools and the endings of runs are read from the server that the commands use.

Examples:

    source <(fermata completion bash)
    fermata completion zsh > "${fpath[1]}/_fermata"
    fermata completion fish > ~/.config/fish/completions/fermata.fish`
}

func (c *completionCommand) Run(s *session.Session, app *kong.Application) error {
	points := completions(app.Node, "")
	switch c.Shell {
	case "bash":
		writeBash(s.Out, points)
	case "zsh":
		writeZsh(s.Out, points)
	default:
		writeFish(s.Out, points)
	}
	return nil
}

// completionPoint is a position in the grammar, with the words that can follow it.
type completionPoint struct {
	// path is the words of the command, such as "token create". It is "" at the
	// root.
	path     string
	commands []word
	flags    []word
	// nameKinds lists the kinds of things whose names the server knows, separated
	// by commas. It is "" if there are none.
	nameKinds string
}

// word is a completion with its description.
type word struct{ text, help string }

// completions walks the grammar and returns all its completion points.
func completions(node *kong.Node, path string) []completionPoint {
	point := completionPoint{path: path}
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			point.flags = append(point.flags, word{"--" + f.Name, f.Help})
		}
	}
	for _, arg := range node.Positional {
		if point.nameKinds == "" {
			point.nameKinds = arg.Tag.Get("complete")
		}
	}
	slices.SortFunc(point.flags, func(a, b word) int { return strings.Compare(a.text, b.text) })
	points := []completionPoint{}
	for _, child := range node.Children {
		if child.Type != kong.CommandNode || child.Hidden {
			continue
		}
		point.commands = append(point.commands, word{child.Name, child.Help})
		points = append(points, completions(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	return append([]completionPoint{point}, points...)
}

func joinTexts(words []word) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
	}
	return strings.Join(list, " ")
}

// writeBash writes a function for bash. The function finds the longest known
// command path among the words, and offers the words that can follow.
func writeBash(w io.Writer, points []completionPoint) {
	fmt.Fprint(w, `_fermata() {
  local cur="${COMP_WORDS[COMP_CWORD]}" path="" try word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    try="${path:+$path }$word"
    case "$try" in
`)
	fmt.Fprintf(w, "      %s) path=\"$try\" ;;\n", bashPaths(points))
	fmt.Fprint(w, "    esac\n  done\n  local words=\"\" named=\"\"\n  case \"$path\" in\n")
	for _, p := range points {
		offer := joinTexts(p.flags)
		if len(p.commands) > 0 {
			offer = joinTexts(p.commands) + " " + offer
		}
		fmt.Fprintf(w, "    %q) words=%q named=%q ;;\n", p.path, offer, p.nameKinds)
	}
	fmt.Fprint(w, `  esac
  if [[ -n $named && $cur != -* ]]; then
    while IFS=$'\t' read -r word _; do words+=" $word"; done < <("${COMP_WORDS[0]}" names "$named" 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _fermata fermata
`)
}

func bashPaths(points []completionPoint) string {
	var list []string
	for _, p := range points {
		if p.path != "" {
			list = append(list, fmt.Sprintf("%q", p.path))
		}
	}
	return strings.Join(list, "|")
}

// writeZsh writes the same function for zsh, with descriptions.
func writeZsh(w io.Writer, points []completionPoint) {
	fmt.Fprint(w, `#compdef fermata
_fermata() {
  local path_="" try word
  for word in "${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    try="${path_:+$path_ }$word"
    case "$try" in
`)
	fmt.Fprintf(w, "      %s) path_=\"$try\" ;;\n", bashPaths(points))
	fmt.Fprint(w, "    esac\n  done\n  local -a commands flags found\n  local named=\"\"\n  case \"$path_\" in\n")
	for _, p := range points {
		fmt.Fprintf(w, "    %q)\n      commands=(%s)\n      flags=(%s)\n      named=%q\n      ;;\n", p.path, zshWords(p.commands), zshWords(p.flags), p.nameKinds)
	}
	fmt.Fprint(w, `  esac
  (( $#commands )) && _describe command commands
  if [[ -n $named && $PREFIX != -* ]]; then
    for word in "${(@f)$("${words[1]}" names "$named" 2>/dev/null)}"; do
      [[ -n $word ]] && found+=("${${word//:/\:}/$'\t'/:}")
    done
    _describe name found
  fi
  _describe flag flags
  (( $#commands )) || _files
}
if [ "$funcstack[1]" = "_fermata" ]; then _fermata; else compdef _fermata fermata; fi
`)
}

func zshWords(words []word) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = quoteShell(w.text + ":" + strings.ReplaceAll(w.help, ":", `\:`))
	}
	return strings.Join(list, " ")
}

// writeFish writes a condition for every point, with descriptions.
func writeFish(w io.Writer, points []completionPoint) {
	fmt.Fprint(w, `function __fermata_path
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or echo $word
  end
end
function __fermata_at
  set -l path (__fermata_path)
  test "$path" = "$argv"
end
function __fermata_below
  set -l path (__fermata_path)
  set -l most (count $argv)
  test $most -gt 0; and test "$path[1..$most]" = "$argv"
end
`)
	for _, p := range points {
		atCondition := quoteShell(strings.TrimSpace("__fermata_at " + p.path))
		belowCondition := atCondition
		if len(p.commands) == 0 {
			belowCondition = quoteShell("__fermata_below " + p.path)
		}
		for _, c := range p.commands {
			fmt.Fprintf(w, "complete -c fermata -n %s -f -a %s -d %s\n", atCondition, c.text, quoteShell(c.help))
		}
		if p.nameKinds != "" {
			fmt.Fprintf(w, "complete -c fermata -n %s -f -a %s\n", atCondition, quoteShell("(fermata names "+p.nameKinds+" 2>/dev/null)"))
		}
		for _, f := range p.flags {
			fmt.Fprintf(w, "complete -c fermata -n %s -l %s -d %s\n", belowCondition, strings.TrimPrefix(f.text, "--"), quoteShell(f.help))
		}
	}
}

// quoteShell returns the text in single quotes for a shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

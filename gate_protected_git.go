package fermata

import (
	"path"
	"slices"
	"strings"
)

// gitHooks are the programs that git starts in the hooks folder of a repository.
var gitHooks = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update",
	"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
}

// hookPaths returns the paths by which a rule names one of gitHooks.
func hookPaths() []string {
	all := make([]string, len(gitHooks))
	for i, hook := range gitHooks {
		all[i] = "hooks/" + hook
	}
	return all
}

// gitSettingWords are the commands and options by which an allow rule permits git to change its settings or to start programs.
var gitSettingWords = []string{
	"git remote add", "git remote set-url", "git submodule add", "git submodule set-url", "git submodule set-branch", "git lfs ", "git maintenance ",
	"--upload-pack", "--receive-pack", "--extcmd", "--separate-git-dir", "--access-hook", "scalar ", "git-config", "git-remote", "git-submodule", "git-lfs",
}

// gitCommandsWithoutOutput are the git subcommands that write none of the files that they name, except for [gitOutputFiles].
var gitCommandsWithoutOutput = []string{
	"add", "annotate", "blame", "branch", "cat-file", "check-attr", "check-ignore", "check-mailmap", "cherry", "cherry-pick", "commit", "count-objects",
	"describe", "diff", "diff-files", "diff-index", "diff-tree", "fetch", "for-each-ref", "grep", "hash-object", "help", "log", "ls-files", "ls-remote",
	"ls-tree", "merge", "merge-base", "name-rev", "notes", "pull", "push", "range-diff", "rebase", "reflog", "reset", "rev-list", "rev-parse", "revert",
	"shortlog", "show", "show-branch", "show-ref", "status", "tag", "update-index", "var", "verify-commit", "verify-tag", "version", "whatchanged",
}

// isWrittenByGit reports whether a git command with these words writes a protected file, or may do so because a word
// is partly unknown.
func (p *protection) isWrittenByGit(words []string, mayBeMentioned func(word string) bool) bool {
	options, words := splitGitWords(words)
	if len(words) == 0 {
		return false
	}
	inProtectedFolder := slices.ContainsFunc(options, p.isMentioned)
	if slices.ContainsFunc(gitOutputFiles(words[1:]), func(file string) bool { return inProtectedFolder && !path.IsAbs(file) || mayBeMentioned(file) }) {
		return true
	}
	return !slices.Contains(gitCommandsWithoutOutput, words[0]) && (inProtectedFolder || slices.ContainsFunc(words[1:], mayBeMentioned))
}

// gitOutputFiles returns the files that git writes because of its option --output. Every subcommand that shows changes
// has this option.
func gitOutputFiles(words []string) []string {
	return optionValues(words, "--output-directory")
}

// optionValues returns the values of a long option of git. Git accepts an abbreviated option name.
func optionValues(words []string, option string) []string {
	var values []string
	for i, word := range words {
		name, value, isAttached := strings.Cut(word, "=")
		switch {
		case len(name) < 3 || !strings.HasPrefix(option, name):
		case isAttached:
			values = append(values, value)
		case i+1 < len(words):
			values = append(values, words[i+1])
		default:
			values = append(values, "")
		}
	}
	return values
}

// splitGitWords splits the words after git into git's own options and the words from the subcommand on. It leaves out
// --git-dir, because every git command writes its own folder.
func splitGitWords(words []string) (options, rest []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		end := 1
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"}, words[0]) {
			end = min(2, len(words)) // the value is a separate word
		}
		if !strings.HasPrefix(words[0], "--git-dir") {
			options = append(options, words[:end]...)
		}
		words = words[end:]
	}
	return options, words
}

// changesGitSettingsOrStartsProgram reports whether a command changes settings of git, or starts a program that an option or a setting names.
func changesGitSettingsOrStartsProgram(words []string) bool {
	if words[0] == "scalar" {
		return slices.ContainsFunc(words[1:], func(word string) bool {
			return slices.Contains([]string{"register", "unregister", "clone", "reconfigure", "run", "delete"}, word)
		})
	}
	if words[0] != "git" {
		return false
	}
	options, words := splitGitWords(words[1:])
	for i, option := range options {
		if option == "-c" && (i+1 == len(options) || !isHarmlessSetting(options[i+1])) || strings.HasPrefix(option, "--config-env") || strings.HasPrefix(option, "--exec-path=") {
			return true
		}
	}
	if len(words) == 0 {
		return false
	}
	verb, words := words[0], words[1:]
	if strings.Contains(verb, "*") || slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "ext::") }) {
		return true // an unknown subcommand, or an address that is a program
	}
	hasOption := func(option string) bool { return len(optionValues(words, option)) > 0 }
	first := firstArgument(words)
	switch verb {
	case "config":
		return setsGitConfig(words)
	case "remote":
		return slices.Contains([]string{"add", "set-url"}, first)
	case "submodule":
		return slices.Contains([]string{"add", "set-url", "set-branch"}, first)
	case "lfs":
		return slices.Contains([]string{"install", "uninstall", "update", "track", "untrack"}, first) || first == "migrate" && !slices.Contains(words, "info")
	case "maintenance":
		return slices.Contains([]string{"start", "stop", "register", "unregister"}, first)
	case "init":
		return hasOption("--template") || hasOption("--separate-git-dir")
	case "clone":
		return hasOption("--template") || hasOption("--separate-git-dir") || hasOption("--upload-pack") || hasFlag(words, 'u', "bjo") || slices.ContainsFunc(clonedSettings(words), func(setting string) bool { return !isHarmlessSetting(setting) })
	case "grep":
		return hasOption("--open-files-in-pager") || hasFlag(words, 'O', "efABCm")
	case "difftool":
		return hasOption("--extcmd") || hasFlag(words, 'x', "tUSG")
	case "daemon":
		return hasOption("--access-hook")
	case "send-email":
		return hasOption("--smtp-server") || hasOption("--sendmail-cmd") || hasOption("--to-cmd") || hasOption("--cc-cmd") || hasOption("--header-cmd")
	case "filter-branch", "instaweb", "remote-ext":
		return true
	case "rebase", "commit", "tag", "merge", "notes":
		return false // a command that rebase starts is read as a command of its own; the others start no program that they name
	default:
		return hasOption("--upload-pack") || hasOption("--receive-pack") || hasOption("--exec")
	}
}

// firstArgument returns the first word that is not an option.
func firstArgument(words []string) string {
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			return word
		}
	}
	return ""
}

// hasFlag reports whether a word of short options contains a flag, as -nO contains O. The text after a flag in valued
// is the value of that flag.
func hasFlag(words []string, flag rune, valued string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		if len(word) < 2 || word[0] != '-' || word[1] == '-' {
			return false
		}
		at := strings.IndexRune(word, flag)
		return at > 0 && !strings.ContainsAny(word[:at], valued)
	})
}

// clonedSettings returns the settings that git clone writes into the new repository.
func clonedSettings(words []string) []string {
	settings := optionValues(words, "--config")
	for i, word := range words {
		value, isSetting := strings.CutPrefix(word, "-c")
		switch {
		case !isSetting:
		case value != "":
			settings = append(settings, value)
		case i+1 < len(words):
			settings = append(settings, words[i+1])
		}
	}
	return settings
}

// harmlessSections are settings, or sections of settings, that start no program and point to no file or address.
var harmlessSections = []string{
	"user.name", "user.email", "user.useconfigonly", "author.", "committer.", "color.", "column.", "advice.", "log.", "status.", "core.quotepath", "core.abbrev",
	"core.autocrlf", "core.eol", "core.longpaths", "core.precomposeunicode", "core.filemode", "core.ignorecase", "init.defaultbranch", "diff.renames", "diff.renamelimit", "diff.algorithm",
	"diff.noprefix", "diff.mnemonicprefix", "diff.context", "diff.colormoved", "merge.conflictstyle", "merge.ff", "merge.renames", "pull.rebase", "pull.ff", "push.default",
	"fetch.prune", "rebase.autosquash", "rebase.autostash", "grep.linenumber", "blame.", "rerere.enabled", "gc.auto", "protocol.version", "commit.verbose", "tag.sort", "branch.sort",
}

// isHarmlessSetting reports whether git -c with this setting starts no program.
func isHarmlessSetting(setting string) bool {
	name, value, hasValue := strings.Cut(setting, "=")
	name = strings.ToLower(name)
	isHarmless := slices.ContainsFunc(harmlessSections, func(section string) bool {
		return name == section || strings.HasSuffix(section, ".") && strings.HasPrefix(name, section)
	})
	switch {
	case isHarmless || value == "/dev/null":
		return true
	case strings.HasSuffix(name, "pager") || strings.HasPrefix(name, "pager.") || strings.HasSuffix(name, "editor"):
		return hasValue && isHarmlessProgram(value)
	default:
		return value == "false" && !strings.HasSuffix(name, "path") && !strings.HasSuffix(name, "dir")
	}
}

// isHarmlessProgram reports whether a program only shows a text, lets a person edit one, or does nothing.
func isHarmlessProgram(value string) bool {
	return slices.Contains([]string{"", "cat", "less", "more", "true", "false", ":", "/bin/true", "/bin/false", "/bin/cat", "/dev/null", "vi", "vim", "nano"}, value)
}

// setsGitProgramOrSettings reports whether a variable names a program for git, or settings that may name one.
func setsGitProgramOrSettings(name, value string) bool {
	switch {
	case strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") || name == "GIT_CONFIG_PARAMETERS":
		return true
	case slices.Contains([]string{"GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_ALLOW_PROTOCOL"}, name):
		return value != "" && value != "/dev/null"
	default:
		return slices.Contains(gitProgramVariables, name) && !isHarmlessProgram(value)
	}
}

// gitProgramVariables are variables that name a program for git to start. sharedVariables also serve other programs, or
// point to settings.
var (
	gitProgramVariables = []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_ASKPASS", "GIT_PROXY_COMMAND"}
	sharedVariables     = []string{"PAGER", "EDITOR", "VISUAL", "SSH_ASKPASS", "HOME", "XDG_CONFIG_HOME"}
)

// runsGitWithSharedVariable reports whether a line runs git and sets one of sharedVariables to more than a harmless program. A
// variable with an unknown name counts as well.
func runsGitWithSharedVariable(line ShellLine) bool {
	return slices.ContainsFunc(line.Calls, func(words []string) bool { return len(words) > 0 && words[0] == "git" }) && setsOneOf(line, sharedVariables)
}

// setsOneOf reports whether a line sets one of these variables, or one with an unknown name, to more than a harmless program.
func setsOneOf(line ShellLine, variables []string) bool {
	return slices.ContainsFunc(line.Assignments, func(setting string) bool {
		name, value, _ := strings.Cut(setting, "=")
		return (slices.Contains(variables, name) || strings.Contains(name, UnknownText)) && !isHarmlessProgram(value)
	})
}

// Words of git config. A word of configReads or configWrites is a subcommand only before the name of a setting. An
// option in configValued takes the next word as its value.
var (
	configReads  = []string{"get", "list"}
	configWrites = []string{"set", "unset", "edit", "rename-section", "remove-section"}
	configValued = []string{"-f", "--file", "--blob", "--type", "--default", "--comment", "--value", "--url"}
	// configWriteOptions are options that write. Git accepts abbreviated names for them.
	configWriteOptions = []string{"--add", "--replace-all", "--unset-all", "--edit", "--rename-section", "--remove-section"}
)

// setsGitConfig reports whether git config with these words changes a setting.
func setsGitConfig(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		name, _, _ := strings.Cut(words[0], "=")
		switch {
		case strings.HasPrefix(words[0], "--get") || words[0] == "--list" || words[0] == "-l":
			return false
		case words[0] == "-e" || len(name) > 2 && slices.ContainsFunc(configWriteOptions, func(option string) bool { return strings.HasPrefix(option, name) }):
			return true
		case slices.Contains(configValued, words[0]) && len(words) > 1:
			words = words[1:]
		}
		words = words[1:]
	}
	switch {
	case len(words) == 0 || slices.Contains(configReads, words[0]):
		return false
	case slices.Contains(configWrites, words[0]):
		return true
	default:
		return len(words) > 1
	}
}

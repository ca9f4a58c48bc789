package worker

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/process"
)

// isolate hides the folders of all other tasks from the programs of a run. Of the repository they see only its git
// data, and can only read it.
func (c *workingCopy) isolate(ctx context.Context, s *process.Sandbox) (context.Context, error) {
	own := process.Sandbox{Hide: []string{c.cs.Folder, filepath.Dir(c.root)}, Write: []string{c.root}}
	if c.repo != nil {
		config := filepath.Join(c.git.dir, "config.shown")
		if err := replaceFile(config, []byte(c.git.seen.visibleConfig())); err != nil {
			return ctx, err
		}
		own.Hide = append(own.Hide, c.repo.top)
		own.Read = []string{c.repo.common}
		own.Masks = map[string]string{filepath.Join(c.repo.common, "config"): config}
	}
	return process.WithSandbox(ctx, s.With(own)), nil
}

// visibleKeys are the settings of a repository that an agent in a sandbox sees. The others may hold passwords.
var visibleKeys = []string{
	"core.*", "extensions.*", "index.*", "user.*", "branch.*", "remote.*.url", "remote.*.fetch", "filter.*", "diff.*", "merge.*", "lfs.*", "submodule.*",
}

// visibleConfig returns the lines of a configuration without secrets.
func (s settings) visibleConfig() string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.Config)) {
		if !matchesAny(visibleKeys, key) {
			continue
		}
		for _, value := range s.Config[key] {
			writeSetting(&text, key, password().ReplaceAllString(value, "://"))
		}
	}
	return text.String()
}

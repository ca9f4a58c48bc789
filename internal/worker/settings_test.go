package worker

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever a value contains, git reads the noted value from the worker's configuration. A setting that starts a program
// by itself is not carried.
func TestCarriedSettings(t *testing.T) {
	t.Parallel()
	value := "a \"b\" \\ c # d ; e\n[core]\n\tfsmonitor = x\t"
	s := settings{Config: map[string][]string{
		"http.https://host.example/a.b \"c\".extraheader": {value, "two"},
		"core.autocrlf":                   {"input"},
		"core.fsmonitor":                  {"x"},
		"core.hookspath":                  {"x"},
		"core.worktree":                   {"/"},
		"include.path":                    {"x"},
		"alias.add":                       {"!x"},
		"gpg.program":                     {"x"},
		"diff.x.textconv":                 {"x"},
		"remote.r.vcs":                    {"x"},
		"core.gitproxy":                   {"x"},
		"merge.x.driver":                  {"x"},
		"submodule.s.update":              {"!x"},
		"remote.r.receivepack":            {"x"},
		"protocol.ext.allow":              {"always"},
		ownPrefix + "core.sparsecheckout": {"true"},
		mainPrefix + "core.autocrlf":      {"true"},
	}}
	name := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(name, []byte(s.carriedConfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	r := repository{top: t.TempDir(), gitDir: t.TempDir()}
	if err := r.readConfig(t.Context(), name, "", got); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"http.https://host.example/a.b \"c\".extraheader": {value, "two"}, "core.autocrlf": {"input"}, "core.sparsecheckout": {"true"},
	}
	if changes := (settings{Config: want}).changes(settings{Config: got}); len(changes) > 0 {
		t.Errorf("git reads other settings: %v", changes)
	}
}

func TestStaysInside(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a": true, "a/b.git/c": true, ".gitignore": true, "a/..b": true,
		"../a": false, "a/../../b": false, "/etc/passwd": false, ".git/config": false, "a/.GIT/hooks": false, "a//b": false, "": false, "./a": false,
	} {
		if got := isInsideCopy(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestHarmlessSettings(t *testing.T) {
	t.Parallel()
	noted := settings{Config: map[string][]string{"remote.origin.url": {"https://example.com/shop"}}}
	for value, want := range map[string]bool{
		"origin": true, ".": true, "https://example.com/fork": true, "git@example.com:fork": true, "/tmp/evil": false, "../evil": false,
		"file:///tmp/evil": false, "other": false, "ext::sh": false,
	} {
		for _, key := range []string{"branch.main.remote", "branch.main.pushremote", "remote.pushdefault"} {
			if got := noted.isHarmless(key, []string{"origin", value}); got != want {
				t.Errorf("%s = %s: %v", key, value, got)
			}
		}
	}
	for key, want := range map[string]bool{
		"branch.main.mergeoptions": false, "pull.twohead": false, "pull.octopus": false, "pull.rebase": true,
		"branch.main.merge": true, "user.email": true, "remote.up.gh-resolved": true, "submodule.s.url": true,
		"submodule.s.update": false, "remote.origin.url": false, "core.sshcommand": false, "user.signingkey": false, "lfs.customtransfer.x.path": false,
		"remote.origin.receivepack": false, ownPrefix + "user.name": false,
	} {
		if got := noted.isHarmless(key, []string{"x"}); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}

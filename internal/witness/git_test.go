package witness_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/witness"
)

// git runs git in a folder, without settings of the user.
func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRemote makes an empty repository. It returns the path and a function that clones the repository.
func newRemote(t *testing.T) (bare string, clone func() string) {
	t.Helper()
	bare = filepath.Join(t.TempDir(), "audit.git")
	git(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", bare)
	return bare, func() string {
		folder := filepath.Join(t.TempDir(), "clone")
		git(t, filepath.Dir(folder), "clone", "--quiet", bare, folder)
		return folder
	}
}

func open(t *testing.T, address string) witness.Witness {
	t.Helper()
	w, err := witness.Open(t.Context(), address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func checkpoint(workspace string, seq int64) fermata.SignedCheckpoint {
	c := fermata.Checkpoint{Workspace: workspace, Seq: seq, Hash: "hash"}
	return fermata.SignedCheckpoint{Checkpoint: c, Note: c.Text() + "\n— fermata-audit signature\n"}
}

func keep(t *testing.T, w witness.Witness, c fermata.SignedCheckpoint) {
	t.Helper()
	if err := w.Keep(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// seqs returns the numbers of the checkpoints that a witness has.
func seqs(t *testing.T, w witness.Witness) (all []int64) {
	t.Helper()
	kept, err := w.(*witness.Git).Checkpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range kept {
		all = append(all, c.Seq)
	}
	return all
}

func TestARepositoryKeepsCheckpoints(t *testing.T) {
	t.Parallel()
	bare, clone := newRemote(t)
	folder := clone()
	w := open(t, "git:"+folder)
	if got := seqs(t, w); got != nil {
		t.Errorf("an empty repository keeps %v", got)
	}
	for _, seq := range []int64{3, 3, 2, 7} {
		keep(t, w, checkpoint("default", seq))
	}
	keep(t, w, checkpoint("other", 5))
	// A process that starts later with another clone knows which checkpoints were kept.
	later := open(t, "git:"+clone())
	keep(t, later, checkpoint("default", 7))
	keep(t, later, checkpoint("default", 9))
	keep(t, w, checkpoint("default", 12))
	if got := seqs(t, w); len(got) != 5 || got[0] != 3 || got[1] != 7 || got[2] != 5 || got[3] != 9 || got[4] != 12 {
		t.Errorf("it keeps %v", got)
	}
	// Commits of other people stay, and everybody can read the checkpoints with git alone.
	lines := git(t, bare, "log", "--reverse", "--format=%B", "main")
	kept, err := witness.Read(strings.NewReader(lines))
	if err != nil || len(kept) != 5 || kept[4] != checkpoint("default", 12) {
		t.Errorf("git log shows %v, %v:\n%s", kept, err, lines)
	}
}

func TestFilesOfTheRepositoryStay(t *testing.T) {
	t.Parallel()
	bare, clone := newRemote(t)
	folder := clone()
	if err := os.WriteFile(filepath.Join(folder, "README"), []byte("What this is.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, folder, "add", "README")
	git(t, folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", `{"seq": 1}`)
	git(t, folder, "push", "--quiet")
	w := open(t, "git:"+folder)
	keep(t, w, checkpoint("default", 3))
	if got := git(t, bare, "show", "main:README"); got != "What this is." {
		t.Errorf("README is %q", got)
	}
	if got := seqs(t, w); len(got) != 1 {
		t.Errorf("it keeps %v", got)
	}
}

func TestReplicasShareARepository(t *testing.T) {
	t.Parallel()
	_, clone := newRemote(t)
	var replicas sync.WaitGroup
	for i := range int64(3) {
		w := open(t, "git:"+clone())
		replicas.Go(func() {
			if err := w.Keep(t.Context(), checkpoint("default", 10+i)); err != nil {
				t.Error(err)
			}
		})
	}
	replicas.Wait()
	got := seqs(t, open(t, "git:"+clone()))
	if len(got) == 0 || got[len(got)-1] != 12 {
		t.Errorf("it keeps %v", got)
	}
}

func TestAHistoryWrittenAnewIsRefused(t *testing.T) {
	t.Parallel()
	for name, rewrite := range map[string]func(t *testing.T, bare, other string){
		"another history": func(t *testing.T, _, other string) {
			t.Helper()
			git(t, other, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--amend", "--allow-empty", "-m", "nothing happened")
			git(t, other, "push", "--quiet", "--force")
		},
		"no history": func(t *testing.T, bare, _ string) {
			t.Helper()
			git(t, bare, "update-ref", "-d", "refs/heads/main")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare, clone := newRemote(t)
			folder := clone()
			keep(t, open(t, "git:"+folder), checkpoint("default", 3))
			rewrite(t, bare, clone())
			w := open(t, "git:"+folder)
			if err := w.Keep(t.Context(), checkpoint("default", 4)); err == nil {
				t.Error("the witness went on with another history")
			}
			if kept, err := w.(*witness.Git).Checkpoints(t.Context()); err == nil {
				t.Errorf("it was read as %v", kept)
			}
		})
	}
}

func TestARepositoryThatIsAwayKeepsNothingNew(t *testing.T) {
	t.Parallel()
	bare, clone := newRemote(t)
	folder := clone()
	w := open(t, "git:"+folder)
	keep(t, w, checkpoint("default", 3))
	if err := os.Rename(bare, bare+".away"); err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(t.Context(), checkpoint("default", 4)); err == nil {
		t.Error("it was kept nowhere")
	}
	// The checkpoints in the clone still count.
	if got := seqs(t, w); len(got) != 1 || got[0] != 3 {
		t.Errorf("it keeps %v", got)
	}
}

func TestAddressesThatKeepNothingAreRefused(t *testing.T) {
	t.Parallel()
	alone := t.TempDir()
	git(t, alone, "init", "--quiet", "--initial-branch=main")
	for address, says := range map[string]string{
		"":                              "needs a place",
		"git:" + t.TempDir():            "no clone",
		"git:" + alone:                  "no repository elsewhere",
		"syslog+tcp://logs.example":     "names no system log",
		"syslog+tls://logs.example:601": "names no system log",
		"syslog://logs.example:514":     "names no system log",
		"syslog+tcp://:601":             "names no system log",
	} {
		w, err := witness.Open(t.Context(), address, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %v, %v", address, w, err)
		}
	}
}

package process

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// MarkEnv names the variable by which a program and all that it starts are known,
// also what left its process group, as the shells of coding agents do.
const MarkEnv = "FERMATA_PROCESS"

// Mark is the beginning of the marks of all programs of this process.
var Mark = ownMark()

// ownMark begins with that of the program which this process is a part of, if any.
func ownMark() string {
	own := strings.ToLower(rand.Text())
	if outer := os.Getenv(MarkEnv); outer != "" {
		return outer + "." + own
	}
	return own
}

var programs atomic.Int64

// RunFolder is the pattern by which folders of runs are made, so that those which a
// killed process left are known by its mark.
var RunFolder = RunFolderOf(Mark)

// RunFolderOf is that pattern for the process with the mark.
func RunFolderOf(mark string) string { return "fermata-run-" + mark + "-*" }

// nextMark is the mark of a new program.
func nextMark() string { return Mark + "." + strconv.FormatInt(programs.Add(1), 10) }

package process

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// MarkEnv names the variable that identifies a program and all processes that it starts. It also covers processes that
// left the process group, as the shells of coding agents do.
const MarkEnv = "FERMATA_PROCESS"

// Mark begins the marks of all programs that this process starts.
var Mark = ownMark()

// ownMark returns a new mark. If a marked program started this process, the new mark begins with that program's mark.
func ownMark() string {
	own := strings.ToLower(rand.Text())
	if outer := os.Getenv(MarkEnv); outer != "" {
		return outer + "." + own
	}
	return own
}

var programCount atomic.Int64

// RunFolderPattern is the pattern for the names of run folders. It contains the mark, so that the folders of a killed
// process can be found.
var RunFolderPattern = RunFolderPatternOf(Mark)

// RunFolderPatternOf returns the pattern for the process with the mark.
func RunFolderPatternOf(mark string) string { return "fermata-run-" + mark + "-*" }

// nextMark returns the mark of a new program.
func nextMark() string { return Mark + "." + strconv.FormatInt(programCount.Add(1), 10) }

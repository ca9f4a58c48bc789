package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/witness"
)

// Command is fermata audit: it searches, exports and verifies the record of what happened.
type Command struct {
	Verify verifyCommand `cmd:"" help:"Check that no event was changed, removed or moved."`
	List   listCommand   `cmd:"" help:"Search what happened, the newest first."`
	Export exportCommand `cmd:"" help:"Write what happened to a file, as JSON lines."`
}

type verifyCommand struct {
	Here    bool   `xor:"where" help:"Read all events and check them here, instead of trusting the server to."`
	File    string `xor:"where" placeholder:"FILE" help:"Check an export instead, without a server; - is standard input."`
	Witness string `placeholder:"FILE" help:"Compare with the signed checkpoints of this witness, too; needs --public-key."`
	Key     string `name:"public-key" placeholder:"KEY" help:"Public key of the server, which 'fermata audit verify' prints: keep it where the server is not. Without it, --here and --file check no signature."`

	// verifier verifies signatures with the public key. It is nil without one.
	verifier *checkpoint.Verifier
}

func (verifyCommand) Help() string {
	return `Every event holds the hash of the one before. The exit code is 1 when the chain is broken.

An export may begin and end anywhere; what is between is checked.

The server signs the end of the chain every few minutes, and each range whose events the policy removed, with a key that is not in its database. Name the public key: without it, the writer of a file may have made up a range. A witness keeps the signed ends (fermata serve --audit-witness FILE). Compared with it, a chain that was rewritten or cut off is detected.

Examples:

    fermata audit verify
    fermata audit verify --here --witness audit.witness --public-key "$(cat audit.pub)"
    fermata audit verify --file audit.jsonl --public-key "$(cat audit.pub)"`
}

func (c *verifyCommand) Run(ctx context.Context, s *session.Session) error {
	witnessCheckpoints, err := c.checkpoints()
	switch {
	case err != nil:
		return err
	case c.File != "":
		return c.verifyFile(s, witnessCheckpoints)
	case c.Here || witnessCheckpoints != nil:
		return c.verifyLocally(ctx, s, witnessCheckpoints)
	default:
		return verifyOnServer(ctx, s)
	}
}

// checkpoints reads the witness file and checks its signatures. It returns nil if the command names no witness.
func (c *verifyCommand) checkpoints() (witnessCheckpoints []fermata.SignedCheckpoint, err error) {
	if c.Witness != "" && c.Key == "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--witness and --public-key belong together").
			WithHint("'fermata audit verify' prints the public key of a server that you trust")
	}
	if c.Key != "" && c.Witness == "" && !c.Here && c.File == "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--public-key is for --witness, --here and --file").
			WithHint("without them, the server checks the signatures with its own key")
	}
	if c.Key != "" {
		if c.verifier, err = checkpoint.NewVerifier(c.Key); err != nil {
			return nil, err
		}
	}
	if c.Witness == "" {
		return nil, nil
	}
	file, err := os.Open(c.Witness)
	if err != nil {
		return nil, session.ReadError("--witness", c.Witness, err)
	}
	defer func() { _ = file.Close() }()
	if witnessCheckpoints, err = witness.Read(file); err != nil {
		return nil, session.ReadError("--witness", c.Witness, err)
	}
	if len(witnessCheckpoints) == 0 {
		return nil, session.FlagErrorf("--witness", "%s is empty, or holds no checkpoint", c.Witness)
	}
	for _, signed := range witnessCheckpoints {
		if err := c.verifier.Verify(signed); err != nil {
			return nil, session.FlagErrorf("--witness", "%s: %v", c.Witness, err)
		}
	}
	return witnessCheckpoints, nil
}

// newVerification returns a verification that checks signatures with the public key, if there is one.
func (c *verifyCommand) newVerification(witnessCheckpoints []fermata.SignedCheckpoint) *client.Verification {
	v := client.NewVerification(witnessCheckpoints)
	if c.verifier != nil {
		v.VerifySignatures(c.verifier)
	}
	return v
}

// verifyFile checks the chain in an export.
func (c *verifyCommand) verifyFile(s *session.Session, witnessCheckpoints []fermata.SignedCheckpoint) error {
	if c.File == "-" {
		return c.verifyLines(s, "standard input", s.Lines, witnessCheckpoints)
	}
	file, err := os.Open(c.File)
	if err != nil {
		return session.ReadError("--file", c.File, err)
	}
	defer func() { _ = file.Close() }()
	return c.verifyLines(s, c.File, bufio.NewReader(file), witnessCheckpoints)
}

// verifyLines checks the chain in an export. An empty export is an error, not an intact chain.
func (c *verifyCommand) verifyLines(s *session.Session, name string, lines *bufio.Reader, witnessCheckpoints []fermata.SignedCheckpoint) error {
	if _, err := lines.Peek(1); errors.Is(err, io.EOF) {
		return session.FlagErrorf("--file", "%s is empty", name)
	} else if err != nil {
		return session.ReadError("--file", name, err)
	}
	report := c.newVerification(witnessCheckpoints).VerifyExport(lines)
	if report.OK && report.Events == 0 {
		return session.FlagErrorf("--file", "%s holds no event", name)
	}
	if !report.OK {
		report.Problem += "; the file is " + name
	} else if len(witnessCheckpoints) == 0 {
		s.Stderr().Line("a file cannot say whether events follow its last one: name a witness (--witness), or compare with fermata audit verify")
	}
	return c.reportLocal(s, report)
}

// reportLocal reports what this program checked itself, and warns if it checked no signature.
func (c *verifyCommand) reportLocal(s *session.Session, r client.AuditReport) error {
	switch {
	case !r.OK || r.SignedTo > 0 || r.Witnessed > 0:
	case c.verifier == nil:
		s.Stderr().Line("no signature was checked, so these events may be made up: name the public key (--public-key)")
	default:
		s.Stderr().Line("no checkpoint here signs these events, so they may be made up")
	}
	return reportAudit(s, r)
}

// verifyOnServer lets the server check the chain.
func verifyOnServer(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	report, err := server.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	return reportAudit(s, report)
}

// verifyLocally checks the chain by reading the events themselves.
func (c *verifyCommand) verifyLocally(ctx context.Context, s *session.Session, witnessCheckpoints []fermata.SignedCheckpoint) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	ranges, err := trimmedRanges(ctx, server)
	if err != nil {
		return err
	}
	v := c.newVerification(witnessCheckpoints)
	err = session.EachEvent(ctx, server, client.EventQuery{}, 0, func(e *fermata.Event) error {
		for len(ranges) > 0 && ranges[0].First <= e.Seq {
			if !v.EnterRange(ranges[0]) {
				return session.ErrQuit
			}
			ranges = ranges[1:]
		}
		if !v.VerifyNext(e) {
			return session.ErrQuit
		}
		return nil
	}, nil)
	if report := v.Report(); err == nil || report.Problem != "" {
		return c.reportLocal(s, report)
	}
	return err
}

// trimmedRanges returns all ranges of the chain from which retention removed events.
func trimmedRanges(ctx context.Context, server *client.Client) (all []fermata.SignedTrimmedRange, err error) {
	for after := int64(0); ; after = all[len(all)-1].Last {
		found, err := server.TrimmedRanges(ctx, after)
		if err != nil || len(found) == 0 {
			return all, err
		}
		all = append(all, found...)
	}
}

// eventRange returns the first and the last event that this program checked itself.
func eventRange(r client.AuditReport) string {
	if r.First == nil {
		return ""
	}
	timeText := func(m *client.AuditMark) string { return m.At.UTC().Format("2006-01-02 15:04:05Z") }
	return fmt.Sprintf(": from event %d (%s) to event %d (%s)", r.First.Seq, timeText(r.First), r.Last.Seq, timeText(r.Last))
}

// printCheckpoints prints how much of a chain is signed, and how many checkpoints outside the database agree with it.
func printCheckpoints(s *session.Session, r client.AuditReport) {
	switch removed := terminal.CountText(r.Removed, "event"); {
	case r.Removed == 0:
	case r.SignedTo == 0 && r.PublicKey == "":
		s.Stdout().Line("%s removed by the policy, as unchecked ranges say", removed)
	default:
		s.Stdout().Line("%s removed by the policy; signed ranges take their place", removed)
	}
	if r.PublicKey != "" {
		s.Stdout().Line("signed up to event %d; public key of the checkpoints: %s", r.SignedTo, r.PublicKey)
	} else if r.SignedTo > 0 {
		s.Stdout().Line("signed up to event %d with the public key", r.SignedTo)
	}
	if r.Witnessed > 0 {
		s.Stdout().Line("agrees with %s outside the database", terminal.CountText(r.Witnessed, "checkpoint"))
	}
}

func reportAudit(s *session.Session, r client.AuditReport) error {
	if s.JSON {
		if err := s.WriteJSON(r); err != nil {
			return err
		}
	} else if r.OK {
		s.Stdout().Line("%s, the chain is whole%s", terminal.CountText(r.Events, "event"), eventRange(r))
		printCheckpoints(s, r)
	}
	if r.OK {
		return nil
	}
	if !s.JSON {
		s.Stderr().Line("%s the chain is broken: %s", s.Stderr().Red("error:"), terminal.Clean(r.Problem))
	}
	return session.ExitError(session.ExitFailed)
}

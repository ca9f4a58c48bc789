package cli

import (
	"bufio"
	"context"
	"os"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type auditCommand struct {
	Verify auditVerifyCommand `cmd:"" help:"Check that no event was changed, removed or moved."`
	List   auditListCommand   `cmd:"" help:"Search what happened, the newest first."`
	Export auditExportCommand `cmd:"" help:"Write what happened to a file, as JSON lines."`
}

type auditVerifyCommand struct {
	Here bool   `xor:"where" help:"Read all events and check them here, instead of trusting the server to."`
	File string `xor:"where" placeholder:"FILE" help:"Check an export instead, without a server; - is standard input."`
}

func (auditVerifyCommand) Help() string {
	return `Every event holds the hash of the one before. The exit code is 1 when the chain is broken.

An export may begin and end anywhere; what is between is checked.

Examples:

    fermata audit verify
    fermata audit verify --here
    fermata audit verify --file audit.jsonl`
}

func (c *auditVerifyCommand) Run(ctx context.Context, s *session) error {
	switch {
	case c.File != "":
		return s.verifyFile(c.File)
	case c.Here:
		return s.verifyHere(ctx)
	default:
		return s.verifyAudit(ctx)
	}
}

// verifyFile checks the chain that an export holds.
func (s *session) verifyFile(name string) error {
	if name == "-" {
		return s.reportAudit(client.VerifyExport(s.lines))
	}
	file, err := os.Open(name)
	if err != nil {
		return fermata.Errorf(fermata.CodeNotFound, "%v", err)
	}
	defer func() { _ = file.Close() }()
	return s.reportAudit(client.VerifyExport(bufio.NewReader(file)))
}

// verifyAudit lets the server check the chain.
func (s *session) verifyAudit(ctx context.Context) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	report, err := server.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	return s.reportAudit(report)
}

// verifyHere checks the chain from the events themselves.
func (s *session) verifyHere(ctx context.Context) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	var chain fermata.Chain
	report := client.AuditReport{OK: true}
	err = eachEvent(ctx, server, client.EventQuery{}, 0, func(e *fermata.Event) error {
		if err := chain.Next(e); err != nil {
			report.OK, report.Problem = false, err.Error()
			return errQuit
		}
		return nil
	})
	report.Events = chain.Seq
	if err != nil && report.OK {
		return err
	}
	return s.reportAudit(report)
}

func (s *session) reportAudit(r client.AuditReport) error {
	if s.JSON {
		if err := s.json(r); err != nil {
			return err
		}
	} else if r.OK {
		s.data().line("%d events, the chain is whole", r.Events)
	}
	if r.OK {
		return nil
	}
	if !s.JSON {
		s.talk().line("%s the chain is broken: %s", s.talk().red("error:"), clean(r.Problem))
	}
	return outcome(exitFailed)
}

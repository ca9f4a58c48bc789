package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/passkey"
)

// ReceiptCommand is fermata receipt: it prints the signed receipt of a decision and verifies it.
type ReceiptCommand struct {
	Get    receiptGetCommand    `cmd:"" default:"withargs" help:"Print the signed receipt of a closed question."`
	Verify receiptVerifyCommand `cmd:"" help:"Check a receipt, without a server."`
}

type receiptGetCommand struct {
	Question string `arg:"" help:"Id of the question, or its end."`
}

func (receiptGetCommand) Help() string {
	return `A receipt says what was asked, how the question ended, who decided and how strongly each was known. The server signs it. If a passkey signed the answer, its signature and its public key are in the receipt.

Examples:

    fermata receipt 7k3m > deploy.receipt
    fermata receipt verify deploy.receipt --public-key "$(cat audit.pub)"`
}

func (c *receiptGetCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	receipt, err := server.Receipt(ctx, c.Question)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(receipt)
	}
	_, err = io.WriteString(s.Out, receipt.Note)
	return err
}

type receiptVerifyCommand struct {
	File string `arg:"" help:"File with the receipt; - is standard input."`
	Key  string `name:"public-key" required:"" placeholder:"KEY" help:"Public key of the server, which 'fermata audit verify' prints: keep it where the server is not."`
}

func (receiptVerifyCommand) Help() string {
	return `The exit code is 1 if the server did not sign the receipt, or if a passkey in it did not sign what the receipt says.

Examples:

    fermata receipt verify deploy.receipt --public-key "$(cat audit.pub)"`
}

func (c *receiptVerifyCommand) Run(_ context.Context, s *session.Session) error {
	signed, err := s.ReadFile("FILE", c.File, session.MaxFileSize)
	if err != nil {
		return err
	}
	r, err := checkpoint.OpenReceipt(signedNote(signed), c.Key)
	if err == nil {
		err = passkey.VerifyReceipt(r)
	}
	if fermata.CodeOf(err) == fermata.CodeInvalidRequest {
		return err
	}
	if err != nil {
		s.Stderr().Line("%s %s", s.Stderr().Red("error:"), terminal.Clean(err.Error()))
		return session.ExitError(session.ExitFailed)
	}
	if s.JSON {
		return s.WriteJSON(r)
	}
	printReceipt(s, r)
	return nil
}

// signedNote returns the signed note in a file. The file is the note itself, or the JSON reply of the server that holds
// it.
func signedNote(file []byte) []byte {
	var reply fermata.SignedReceipt
	if json.Unmarshal(file, &reply) == nil {
		return []byte(reply.Note)
	}
	// A receipt that was copied from a terminal may lack its last line end.
	return append(bytes.TrimRight(file, "\n"), '\n')
}

// printReceipt prints the facts that a receipt proves.
func printReceipt(s *session.Session, r fermata.DecisionReceipt) {
	q, p := r.Question(), s.Stdout()
	p.Line("the receipt is genuine; issued %s", r.IssuedAt.UTC().Format("2006-01-02 15:04:05Z"))
	p.Line("%s  %s", r.QuestionID, terminal.OneLine(r.Title))
	if hash := r.Resolution.ActionHashOr(r.ActionHash); hash != "" {
		p.Line("action   SHA-256 %s", hash)
	}
	p.Line("outcome  %s", terminal.OneLine(r.Resolution.Sentence()))
	signers := q.Signers()
	for _, v := range r.Votes {
		p.Line("vote     %s: %s at %s, %s", terminal.OneLine(v.By.DisplayName()), v.Value, v.At.UTC().Format("2006-01-02 15:04:05Z"), assuranceText(v.Assurance, slices.Contains(signers, v.By.ID)))
	}
	if by := r.Resolution.AnsweredBy; by != nil && len(r.Votes) == 0 {
		p.Line("decided  %s, %s", terminal.OneLine(by.DisplayName()), assuranceText(r.Resolution.Assurance, slices.Contains(signers, by.ID)))
	}
	p.Line("audit    event %d, hash %s", r.ClosedEvent, r.ClosedHash)
}

// assuranceText returns in words how strongly a person proved who they are, and whether a passkey signed the decision.
func assuranceText(a fermata.Assurance, signed bool) string {
	switch {
	case signed:
		return "known by a passkey, which signed this decision"
	case a == "":
		return "known to the machine of the server"
	case a == fermata.AssuranceLink:
		return "known by a link"
	case a == fermata.AssuranceChannel:
		return "known by a token or in a channel"
	default:
		return "known " + render.AssurancePhrases[a]
	}
}

package api

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// preparedDecision is the data with which a browser lets a person sign an
// answer.
type preparedDecision struct {
	Decision string          `json:"decision" doc:"the text that is signed: JSON, whose SHA-256 is the challenge; send it with the answer, byte for byte"`
	Options  json.RawMessage `json:"options" doc:"for navigator.credentials.get: publicKey in the form of PublicKeyCredential.parseRequestOptionsFromJSON"`
}

func (s *Server) registerDecisions() {
	addOperation(s, operation("POST /questions/{id}/decision", "prepare-decision", "Prepare an answer that a passkey signs; this changes nothing"), s.prepareDecision)
	addOperation(s, operation("GET /questions/{id}/receipt", "get-receipt", "Read the signed receipt of a closed question"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*reply[fermata.SignedReceipt], error) {
			return replyOf(s.Engine.Receipt(ctx, c, in.ID))
		})
}

func (s *Server) prepareDecision(ctx context.Context, c fermata.Caller, in *idBody[fermata.Answer]) (*reply[preparedDecision], error) {
	if err := s.limits.limitQuestion(c, in.ID); err != nil {
		return nil, err
	}
	d, err := s.Engine.PrepareDecision(ctx, c, in.ID, in.Body)
	if err != nil {
		return nil, err
	}
	if s.Passkeys == nil {
		return nil, noPasskeysError()
	}
	text := d.Text()
	options, err := s.Passkeys.BeginSignature(ctx, c, text)
	return replyOf(preparedDecision{text, options}, err)
}

// answerSigned checks the signature of the answer, and then answers the
// question.
func (s *Server) answerSigned(ctx context.Context, c fermata.Caller, id string, a fermata.Answer) (*fermata.Question, error) {
	if a.Signature != nil && s.Passkeys != nil {
		signed, err := s.Passkeys.CheckSignature(ctx, c, a.Signature)
		if err != nil {
			return nil, err
		}
		a.Signed = signed
	}
	return s.Engine.Answer(ctx, c, id, a)
}

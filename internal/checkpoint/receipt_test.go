package checkpoint_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/test/forgery"
)

// A receipt with one wrong character never shows anything but the signed content. A few such receipts can be opened,
// because the end of a signature has more than one spelling in base64.
func TestAReceiptOneCharacterOffSaysNothingElse(t *testing.T) {
	t.Parallel()
	signer := newSigner(t)
	receipt := fermata.DecisionReceipt{
		WorkspaceID: "default", QuestionID: "q_1", Type: fermata.Approval, Title: "Drop the table?", Action: json.RawMessage(`{"command":"drop"}`),
		Items: []fermata.Item{{Key: "it", Prompt: "Drop it?"}}, Resolution: &fermata.Resolution{Status: fermata.Answered, Answer: fermata.Approve},
		IssuedAt: time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC),
	}
	signed, err := signer.SignReceipt(receipt)
	if err != nil {
		t.Fatal(err)
	}
	genuine, err := checkpoint.OpenReceipt([]byte(signed.Note), signer.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	tried, opened := 0, 0
	for forged := range forgery.OneOff(signed.Note) {
		tried++
		got, err := checkpoint.OpenReceipt([]byte(forged), signer.PublicKey())
		if err != nil {
			continue
		}
		opened++
		if !reflect.DeepEqual(got, genuine) {
			t.Errorf("%q is opened as %+v", forged, got)
		}
	}
	if tried < 1000 || opened > 10 {
		t.Errorf("of %d forgeries %d are opened", tried, opened)
	}
}
